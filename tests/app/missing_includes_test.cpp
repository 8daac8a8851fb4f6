#include "tests/app/missing_includes.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <regex>
#include <string>

#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

namespace fs = std::filesystem;

Sources sourcesIn(std::initializer_list<const char*> folders) {
  const fs::path root = HEADSCOPE_SOURCE_DIR;
  Sources sources;
  for (const char* folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (const auto ending = entry.path().extension(); ending == ".h" || ending == ".cpp")
        sources[entry.path().lexically_relative(root).generic_string()] = fileText(entry.path());
  return sources;
}

const char* const kControls =
    "namespace headscope::app {\nstruct ControlSpec {\n};\nvoid sectionTitle(int at,\n    int to);\n"
    "inline constexpr float kRowHeight = 3;\n}\n";

TEST(MissingIncludes, FindsMissingIncludes) {
  const auto found = [](const char* text) {
    return missingIncludes({{"app/a.cpp", text}, {"app/b.h", ""}, {"app/controls.h", kControls}});
  };
  EXPECT_THAT(found("#include \"app/b.h\"\nvoid f() { sectionTitle(1, 2); }\n"),
              ElementsAre("app/a.cpp: uses sectionTitle of app/controls.h, which it doesn't include"));
  EXPECT_THAT(found("float g = kRowHeight;"), testing::SizeIs(1));
  EXPECT_THAT(found("float g = app::kRowHeight;"), testing::SizeIs(1));
  EXPECT_THAT(found("ControlSpec make();"), testing::SizeIs(1));
}

TEST(MissingIncludes, AcceptsNamesFromIncludes) {
  const auto found = [](const char* text) {
    return missingIncludes(
        {{"app/a.cpp", text}, {"app/b.h", "#include \"app/controls.h\"\n"}, {"app/controls.h", kControls}});
  };
  EXPECT_THAT(found("#include \"app/b.h\"\nvoid f() { sectionTitle(kRowHeight, 2); }\n"), IsEmpty());
  EXPECT_THAT(found("void sectionTitle();\nvoid f() { sectionTitle(); }\n"), IsEmpty());
  EXPECT_THAT(found("void f() { page.sectionTitle(); page->sectionTitle(); Other::sectionTitle(); }\n"),
              IsEmpty());
  EXPECT_THAT(found("// sectionTitle(\nconst char* f = \"sectionTitle(1)\";\n"), IsEmpty());
}

TEST(MissingIncludes, ProgramAndTestsHaveNone) {
  const Sources sources = sourcesIn({"app", "attention", "render", "tests"});
  EXPECT_GT(sources.size(), 500u) << "the sources were not found";
  EXPECT_THAT(missingIncludes(sources), IsEmpty());
}

/// The browser's standard library has no algorithms over ranges and no views; it uses those of this file.
TEST(BrowserLibrary, HasTheRangeAlgorithmsInUse) {
  const Sources sources = sourcesIn({"app", "attention", "render"});
  const std::string& library = sources.at("app/platform/web/polyfills/ranges.h");
  const std::regex use("std::ranges::(\\w+)");
  std::size_t uses = 0;
  for (const auto& [file, text] : sources) {
    if (file.starts_with("app/commands/")) continue;  // not in the browser's page
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("std::views::"))) << file;
    for (std::sregex_iterator each(text.begin(), text.end(), use), end; each != end; ++each, ++uses)
      EXPECT_THAT(library, testing::HasSubstr(" " + (*each)[1].str() + "(")) << file;
  }
  EXPECT_GT(uses, 50u);
}

/// There, no other header brings these names.
TEST(BrowserLibrary, HasItsHeadersIncluded) {
  for (const auto& [file, text] : sourcesIn({"app", "attention", "render"})) {
    if (text.find("std::numbers::") == std::string::npos) continue;
    EXPECT_THAT(text, testing::HasSubstr("#include <numbers>")) << file;
  }
}

}  // namespace
}  // namespace headscope::test
