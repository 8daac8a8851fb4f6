#include "tests/app/unit_graph.h"

#include <gtest/gtest.h>

#include <map>

#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

namespace fs = std::filesystem;

Sources programSources() {
  const fs::path root = HEADSCOPE_SOURCE_DIR;
  Sources sources;
  for (const char* folder : {"app", "attention", "render"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (const auto ending = entry.path().extension(); ending == ".h" || ending == ".cpp")
        sources[entry.path().lexically_relative(root).generic_string()] = fileText(entry.path());
  return sources;
}

TEST(UnitGraph, FindsCyclesThroughSources) {
  const Sources sources{{"app/a.h", ""},
                        {"app/a.cpp", "#include \"app/a.h\"\n#include \"app/b.h\"\n"},
                        {"app/b.h", "#include \"app/c.h\"\n"},
                        {"app/c.cpp", "#include \"app/a.h\"\n"},
                        {"app/c.h", ""},
                        {"app/d.h", "#include \"app/a.h\"\n#include <vector>\n"}};
  EXPECT_THAT(circlesOfUnits(sources), ElementsAre(ElementsAre("app/a", "app/b", "app/c")));
  EXPECT_THAT(circlesOfUnits({{"app/a.cpp", "#include \"app/a.h\"\n"}, {"app/a.h", ""}}), IsEmpty());
}

TEST(UnitGraph, FindsUpwardIncludes) {
  EXPECT_THAT(upwardIncludes({{"app/compute/layer/a.cpp", "#include \"app/compute/model/b.h\"\n"}}),
              ElementsAre(HasSubstr("model is above layer")));
  EXPECT_THAT(upwardIncludes({{"app/compute/words/a.cpp", ""}}), ElementsAre(HasSubstr("has no place")));
  EXPECT_THAT(upwardIncludes({{"app/compute/model/a.cpp", "#include \"app/compute/layer/b.h\"\n"},
                              {"app/pages/a.cpp", "#include \"app/compute/model/b.h\"\n"}}),
              IsEmpty());
}

TEST(UnitGraph, FindsTypes) {
  const auto types = typesOf(
      "namespace a::b {\nstruct One;\nstruct Two {\nenum class Three { x, y };\n  struct Inner {\n"
      "namespace {\nclass Own {\n}  // namespace\nclass Four : public Two {\nstruct Four::Impl {\n"
      "}  // namespace a::b\nenum Five {\n");
  std::string found;
  for (const DefinedType& type : types) found += type.kind + " " + type.name + "; ";
  EXPECT_EQ(found, "struct a::b::Two; enum class a::b::Three; class a::b::Four; enum Five; ");
}

TEST(UnitGraph, HasNoCycleOfMoreThanTwo) {
  for (const auto& circle : circlesOfUnits(programSources()))
    EXPECT_LE(circle.size(), 2u) << testing::PrintToString(circle);
}

TEST(UnitGraph, ComputeHasNoUpwardIncludes) {
  EXPECT_THAT(upwardIncludes(programSources()), IsEmpty());
}

/// Two types of the same name in one namespace mix up their destructors, and nothing else reports it.
TEST(UnitGraph, TypeNamesAreUnique) {
  std::map<std::string, std::string> places;
  for (const auto& [path, text] : programSources())
    for (const DefinedType& type : typesOf(text)) {
      const auto [at, isNew] = places.emplace(type.name, path);
      EXPECT_TRUE(isNew) << type.name << " is in " << at->second << " and in " << path;
    }
  EXPECT_GT(places.size(), 400u);
}

}  // namespace
}  // namespace headscope::test
