#include "attention/formats/json_tree.h"

#include <gtest/gtest.h>

#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/models/config/model_config.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonTree, ReadsTreesUpToTheBounds) {
  const JsonBounds bounds{.depth = 3, .values = 4};
  EXPECT_EQ(parseJsonTree("[[[]]]", "a", bounds)->dump(), "[[[]]]");
  EXPECT_EQ(parseJsonTree("[1,2,3]", "a", bounds)->dump(), "[1,2,3]");
  EXPECT_EQ(parseJsonTree(R"({"b":{"c":{}},"a":1})", "a", bounds)->dump(), R"({"a":1,"b":{"c":{}}})");
  using Ordered = nlohmann::ordered_json;
  EXPECT_EQ(parseJsonTree<Ordered>(R"({"b":1,"a":2})", "a")->dump(), R"({"b":1,"a":2})");
  EXPECT_TRUE(parseJsonTree(nested(32), "a").ok());
}

TEST(JsonTree, ReportsExceededBound) {
  const JsonBounds bounds{.depth = 3, .values = 4};
  const auto refusal = [&](std::string_view text) {
    return parseJsonTree(text, "a", bounds).error().message;
  };
  EXPECT_EQ(refusal("[[[["), "a: lists and objects are more than 3 deep");
  EXPECT_EQ(refusal(R"({"a":[{"b":{"c":)"), "a: lists and objects are more than 3 deep");
  EXPECT_EQ(refusal("[1,2,3,4,5"), "a: holds more than 4 values");
  EXPECT_EQ(refusal("[[],[],[],[]]"), "a: holds more than 4 values");
  EXPECT_EQ(refusal("[1,"), "a: is not valid JSON at byte 4");
  EXPECT_EQ(refusal("[1e999]"), "a: holds a number that is too large");
}

/// 15 MB of brackets would become a tree of a gigabyte, so reading stops after the first ones.
TEST(JsonTree, EveryReaderRefusesDeepBrackets) {
  const std::string brackets(15'000'000, '[');
  const std::string expected = "a: lists and objects are more than 32 deep";
  EXPECT_EQ(parseShardIndex(brackets, "a").error().message, expected);
  EXPECT_EQ(readModelConfig(brackets, "a").error().message, expected);
  EXPECT_EQ(readModelShape(std::string_view(brackets), "a").error().message, expected);
}

TEST(JsonTree, RefusesIndexWithTooManyValues) {
  std::string json = R"({"metadata": [0)";
  for (int i = 0; i < 1'000'000; ++i) json += ",0";
  EXPECT_THAT(parseShardIndex(json, "a").error().message, HasSubstr("a: holds more than 1000000 values"));
}

}  // namespace
}  // namespace headscope::attention
