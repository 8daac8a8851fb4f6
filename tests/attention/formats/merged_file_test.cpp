#include "attention/formats/merged_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace headscope::attention {
namespace {

TEST(MergedFile, KeepsWhatBothChanged) {
  struct Case {
    const char *base, *mine, *theirs, *merged;
  };
  const Case kCases[] = {
      {R"({"a": 1})", R"({"a": 2})", R"({"a": 1, "b": 3})", R"({"a": 2, "b": 3})"},
      {R"({"a": 1, "b": 1})", R"({"a": 1, "b": 2})", R"({"a": 5, "b": 1})", R"({"a": 5, "b": 2})"},
      {R"({"a": 1})", R"({"a": 2})", R"({"a": 3})", R"({"a": 2})"},
      {R"({"a": {"x": 1}})", R"({"a": {"x": 1, "y": 2}})", R"({"a": {"x": 9}})",
       R"({"a": {"x": 9, "y": 2}})"},
      {R"({"a": 1, "b": 1})", R"({"b": 1})", R"({"a": 1, "b": 1, "c": 1})", R"({"b": 1, "c": 1})"},
      {R"({"a": 1, "b": 1})", R"({"a": 1, "b": 2})", R"({"b": 1})", R"({"b": 2})"},
      {R"({"s": ["p"]})", R"({"s": ["p", "q"]})", R"({"s": ["p", "r"]})", R"({"s": ["p", "r", "q"]})"},
      {R"({"s": ["p", "q"]})", R"({"s": ["q"]})", R"({"s": ["p", "q", "r"]})", R"({"s": ["q", "r"]})"},
      {"", R"({"a": 1})", R"({"a": 2, "b": 2})", R"({"a": 1, "b": 2})"},
      {R"({"a": 1})", R"({"a": 1})", "damaged", R"({"a": 1})"}};
  for (const Case& each : kCases)
    EXPECT_EQ(nlohmann::json::parse(mergedJson(each.base, each.mine, each.theirs)),
              nlohmann::json::parse(each.merged))
        << each.base << " " << each.mine << " " << each.theirs;
}

TEST(MergedFile, EachWriteAddsOnlyWhatChangedSinceTheLast) {
  const headscope::test::TemporaryFolder folder;
  const auto path = folder / "new/settings.json";
  MergedFile file;
  file.begin("{}");
  ASSERT_TRUE(file.write(path, R"({"a": 1})").ok());
  headscope::test::putFile(path, R"({"a": 2, "b": 2})");
  ASSERT_TRUE(file.write(path, R"({"a": 1, "c": 3})").ok());
  EXPECT_EQ(nlohmann::json::parse(headscope::test::fileText(path)),
            nlohmann::json::parse(R"({"a": 2, "b": 2, "c": 3})"));
}

/// Windows that save at the same moment: each adds one name after another, and none is lost.
TEST(MergedFile, WritersAtTheSameMomentLoseNothing) {
  const headscope::test::TemporaryFolder folder;
  const auto path = folder / "settings.json";
  constexpr int kWriters = 6, kNames = 20;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < kWriters; ++writer)
      writers.emplace_back([&path, writer] {
        MergedFile file;
        file.begin("{}");
        nlohmann::json own = nlohmann::json::object();
        for (int name = 0; name < kNames; ++name) {
          own[std::to_string(writer) + "." + std::to_string(name)] = name;
          EXPECT_TRUE(file.write(path, own.dump()).ok());
        }
      });
  }
  const auto all = nlohmann::json::parse(headscope::test::fileText(path));
  EXPECT_EQ(all.size(), std::size_t{kWriters * kNames}) << all;
}

}  // namespace
}  // namespace headscope::attention
