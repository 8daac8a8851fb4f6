#include "tests/app/missing_includes.h"

#include <gtest/gtest.h>

#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

namespace fs = std::filesystem;

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
  const fs::path root = HEADSCOPE_SOURCE_DIR;
  Sources sources;
  for (const char* folder : {"app", "attention", "render", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (const auto ending = entry.path().extension(); ending == ".h" || ending == ".cpp")
        sources[entry.path().lexically_relative(root).generic_string()] = fileText(entry.path());
  EXPECT_GT(sources.size(), 1000u) << "the sources were not found";
  EXPECT_THAT(missingIncludes(sources), IsEmpty());
}

}  // namespace
}  // namespace headscope::test
