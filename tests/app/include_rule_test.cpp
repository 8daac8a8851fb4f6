#include <gtest/gtest.h>

#include "test_paths.h"
#include "tests/app/include_rules.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

namespace fs = std::filesystem;

TEST(IncludeRules, ReadsIncludeLines) {
  EXPECT_THAT(includesOf("#include <vector>\n#include \"app/scene.h\"\n"),
              ElementsAre("vector", "app/scene.h"));
  EXPECT_THAT(includesOf("  #  include<imgui.h> // why\r\n#include\t\"a.h\""), ElementsAre("imgui.h", "a.h"));
  EXPECT_THAT(includesOf("// #include <imgui.h>\n/* #include <imgui.h>\n#include <x.h> */ #include <y.h>"),
              ElementsAre("y.h"));
  EXPECT_THAT(
      includesOf("const char* url = \"http://x\";\n#include <z.h>\nchar c = \"/*\"[0];\n#include <w.h>"),
      ElementsAre("z.h", "w.h"));
  EXPECT_THAT(includesOf("#define include <a.h>\n#pragma once\n#includes\nint include;\n"), IsEmpty());
  EXPECT_THAT(includesOf(""), IsEmpty());
  EXPECT_THAT(includesOf("/*"), IsEmpty());
}

struct Planted {
  const char* path;
  const char* text;
  const char* expected;
};

/// Sources with one violation each that the checker has to find.
const Planted kBreaches[] = {
    {"attention/core/a.cpp", "#include \"render/image.h\"\n", "attention knows neither"},
    {"attention/text/a.h", "#include \"app/scene.h\"\n", "attention knows neither"},
    {"attention/core/a.cpp", "#include <imgui.h>\n", "belongs to app"},
    {"attention/heads/a.cpp", "#include <GLFW/glfw3.h>\n", "belongs to app"},
    {"attention/core/a.cpp", "#include <epoxy/gl.h>\n", "attention knows no screen"},
    {"attention/core/a.cpp", "#include \"attention/text/tokenizer.h\"\n", "core includes nothing above it"},
    {"attention/core/a.h", "#include \"attention/formats/quote.h\"\n", "core includes nothing above it"},
    {"attention/core/sub/a.h", "#include \"attention/masks/b.h\"\n", "core includes nothing above it"},
    {"attention/heads/a.cpp", "#include \"attention/kernels/dot.h\"\n", "only core includes kernels"},
    {"render/a.cpp", "#include \"attention/core/tensor.h\"\n", "render knows neither"},
    {"render/a.h", "#include \"app/theme.h\"\n", "render knows neither"},
    {"render/a.cpp", "#  include <imgui_internal.h>\n", "belongs to app"},
    {"render/a.cpp", "#include <backends/imgui_impl_opengl3.h>\n", "belongs to app"},
    {"render/a.cpp", "#include <GLFW/glfw3.h>\n", "belongs to app"},
    {"render/a.cpp", "#include <epoxy/gl.h>\n", "only render/gl.h does"},
    {"render/a.cpp", "#include <GL/gl.h>\n", "only render/gl.h does"},
    {"render/a.cpp", "#include <GLES3/gl3.h>\n", "only render/gl.h does"},
    {"app/main.cpp", "#include <epoxy/gl.h>\n", "only render/gl.h does"},
    {"app/a.cpp", "#include <EGL/egl.h>\n", "EGL stays in render"},
    {"app/a.cpp", "#include <epoxy/egl.h>\n", "EGL stays in render"},
    {"app/pages/heads/a.cpp", "#include \"render/gl.h\"\n", "reach no GL header"},
    {"app/pages/heads/a.h", "#include \"render/gl_objects.h\"\n", "reach no GL header"},
    {"app/widgets/a.cpp", "#include <GLFW/glfw3.h>\n", "reach no GL header"},
    {"app/a.cpp", "#if IMGUI_VERSION_NUM >= 19000\n#endif\n", "tests IMGUI_VERSION_NUM"},
    {"app/platform/ui.h", "#ifdef IMGUI_VERSION_NUM\n#endif\n", "tests IMGUI_VERSION_NUM"},
    {"app/widgets/a.h", "void paint(ImDrawList& list);\n", "expected a Canvas"},
    {"app/widgets/a.cpp", "bool b = ImGui::InvisibleButton(\"b\", size);\n", "invisible button"},
    {"app/a.h", "#include <nlohmann/json.hpp>\n", "stays out of headers"},
    {"app/session/session.cpp", "#include \"app/scene/json_text.h\"\n", "inside the scene's readers"},
    {"app/pages/heads/a.cpp", "#include \"app/scene/json_text.h\"\n", "inside the scene's readers"},
    {"attention/formats/a.h", "#include <nlohmann/json_fwd.hpp>\n", "stays out of headers"},
    {"attention/heads/a.h", "#include <fmt/core.h>\n", "stays out of headers"},
    {"app/widgets/a.cpp", "fmt::format(\"{:.2f}\", x);\n", "writes a fraction itself"},
    {"app/a.cpp", "#include \"../render/image.h\"\n", "start at the root"},
    {"app/a.cpp", "#include \"app/scene/scene.h\"\n", "on no floor"},
    {"app/session/session.cpp", "thread_local int depth = 0;\n", "keeps state"},
    {"app/session/session.cpp", "  thread_local const std::string name(\"a\");\n", "keeps state"},
    {"app/session/session.cpp", "  static std::map<std::string, const int> map;\n", "keeps state"},
    {"app/session/session.cpp", "  static std::function<void()> hook;\n", "keeps state"},
    {"app/session/session.cpp", "int next() { static int last = 0; return ++last; }\n", "keeps state"},
    {"app/session/session.cpp", "  static const char* name = \"a\";\n", "keeps state"},
    {"app/session/session.cpp", "  static FileShelf shelf{\"a\"};\n", "keeps state"},
    {"app/session/session.h", "  static inline int counted;\n", "keeps state"},
    {"app/scene/a.h", "#include \"app/compute/snapshot.h\"\n", "a floor above"},
    {"app/platform/a.h", "#include \"app/widgets/view.h\"\n", "a floor above"},
    {"app/compute/a.h", "#include \"app/widgets/view.h\"\n", "a floor above"},
    {"app/widgets/a.h", "#include \"app/pages/common/page.h\"\n", "a floor above"},
    {"app/pages/heads/a.h", "#include \"app/session/session.h\"\n", "a floor above"},
    {"app/pages/common/page.h", "#include \"app/shell/shell.h\"\n", "a floor above"},
    {"app/session/session.cpp", "#include \"app/commands/commands.h\"\n", "a floor above"},
    {"app/pages/heads/a.h", "#include \"app/pages/mask/mask_page.h\"\n", "no other page"},
    {"app/pages/common/page.h", "#include \"app/pages/mask/mask_page.h\"\n", "no other page"},
    {"app/pages/heads/a.h", "namespace headscope::app {\n}\n", "namespace heads_page"},
    {"app/pages/heads/a.h", "\nnamespace headscope::app::mask_page {\n}\n", "namespace heads_page"},
    {"app/a.cpp", "#include \"tests/support/golden.h\"\n", "knows no tests"},
};

TEST(IncludeRules, FindsEveryBreach) {
  for (const Planted& planted : kBreaches) {
    const auto found = breaches({{planted.path, planted.text}});
    ASSERT_FALSE(found.empty()) << planted.path << " " << planted.text;
    EXPECT_THAT(found, testing::Contains(testing::AllOf(testing::StartsWith(std::string(planted.path) + ": "),
                                                        HasSubstr(planted.expected))));
  }
}

TEST(IncludeRules, FindsIndirectGlIncludes) {
  const Sources sources{{"app/pages/heads/a.cpp", "#include \"app/scene/b.h\"\n"},
                        {"app/scene/b.h", "#include \"app/scene/c.h\"\n#include \"app/scene/b.h\"\n"},
                        {"app/scene/c.h", "#include \"render/gl.h\"\n"},
                        {"render/gl.h", "#include <epoxy/gl.h>\n"}};
  EXPECT_THAT(breaches(sources), ElementsAre(testing::AllOf(testing::StartsWith("app/pages/heads/a.cpp"),
                                                            HasSubstr("through app/scene/c.h"))));
}

TEST(IncludeRules, FindsFolderCycles) {
  const Sources sources{{"attention/heads/a.h", "#include \"attention/text/b.h\"\n"},
                        {"attention/text/b.h", "#include \"attention/formats/c.h\"\n"},
                        {"attention/formats/c.cpp", "#include \"attention/heads/d.h\"\n"}};
  EXPECT_THAT(breaches(sources), testing::SizeIs(3));
}

TEST(IncludeRules, AllowsConstantStatics) {
  const char* const text =
      "static constexpr std::array kShapes{1, 2};\n"
      "static const std::vector<Choice> kSizes{{\"a static word = 3;\"}};\n"
      "static const char* const kName = \"a\";\n"
      "static std::map<int, int> counted(int from = 3) { return {}; }\n"
      "  static bool displayAvailable();\n"
      "  static_assert(sizeof(int) == 4);  // static int was;\n"
      "  int* last = static_cast<int*>(user);\n";
  EXPECT_THAT(breaches({{"app/session/session.cpp", text}, {"attention/core/a.cpp", "static int n;\n"}}),
              IsEmpty());
}

TEST(IncludeRules, FindsLongFiles) {
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += "\n";
  EXPECT_THAT(breaches({{"app/scene/a.cpp", lines}}), IsEmpty());
  EXPECT_THAT(breaches({{"app/scene/a.cpp", lines + "\n"}}), ElementsAre(HasSubstr("401 lines")));
}

TEST(IncludeRules, FindsLongFunctions) {
  std::string body = "        int b) {\n";
  for (int i = 0; i < 77; ++i) body += "  act();\n";
  const std::string before = "namespace headscope {\n\n", head = "int act(int a,\n";
  EXPECT_THAT(breaches({{"app/scene/a.cpp", before + head + body + "}\n"}}), IsEmpty());
  EXPECT_THAT(breaches({{"app/scene/a.cpp", before + head + body + "#endif\n  act();\n}\n"}}),
              ElementsAre(HasSubstr("82 lines: int act(int a,")));
}

TEST(IncludeRules, AcceptsPermittedIncludes) {
  const Sources sources{
      {"app/platform/a.cpp",
       "#include <imgui.h>\n#include \"render/gl.h\"\n#include \"attention/core/mask.h\"\n"},
      {"app/pages/pages.cpp", "#include \"app/pages/heads/heads_page.h\"\n"},
      {"app/pages/heads/a.cpp",
       "#include \"app/pages/common/page.h\"\n#include \"app/compute/snapshot.h\"\n"},
      {"app/platform/c.cpp", "#include \"app/scene/scene.h\"\n"},
      {"app/platform/b.cpp", "#include <nlohmann/json.hpp>\n#include <GLFW/glfw3.h>\n// IMGUI_VERSION_NUM\n"},
      {"app/platform/imgui_compat.h", "#if IMGUI_VERSION_NUM < 19000\n#endif\n"},
      {"app/pages/heads/c.cpp", "#include \"app/platform/imgui_compat.h\"\n#include \"render/heatmap.h\"\n"},
      {"render/gl.h", "#include <epoxy/gl.h>\n"},
      {"render/egl.cpp", "#include <EGL/egl.h>\n#include \"render/gl.h\"\n"},
      {"attention/core/d.cpp", "#include \"attention/kernels/dot.h\"\n#include \"attention/core/mask.h\"\n"},
      {"attention/heads/e.cpp", "#include \"attention/core/mask.h\"\n#include <nlohmann/json.hpp>\n"}};
  EXPECT_THAT(breaches(sources), IsEmpty());
}

/// The program's own sources.
Sources ownSources() {
  const fs::path root = HEADSCOPE_SOURCE_DIR;
  Sources sources;
  for (const char* folder : {"app", "attention", "render"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string ending = entry.path().extension().string();
      if (entry.is_regular_file() &&
          (ending == ".h" || ending == ".cpp" || ending == ".hpp" || ending == ".cc"))
        sources[entry.path().lexically_relative(root).generic_string()] = fileText(entry.path());
    }
  EXPECT_GT(sources.size(), 80u) << "the sources were not found";
  return sources;
}

TEST(IncludeRules, SourcesFollowTheRules) {
  EXPECT_THAT(breaches(ownSources()), IsEmpty());
}

/// Tests may include anything, but have the same length limits.
TEST(IncludeRules, TestFilesStayShort) {
  const fs::path root = HEADSCOPE_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".h" && ending != ".cpp") continue;
    const std::string text = fileText(entry.path());
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 400) << entry.path();
  }
}

}  // namespace
}  // namespace headscope::test
