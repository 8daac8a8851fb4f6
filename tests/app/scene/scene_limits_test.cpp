#include <gtest/gtest.h>

#include <stop_token>

#include "app/scene/json_text.h"
#include "app/scene/scene_json.h"
#include "tests/support/matchers.h"
#include "tests/support/peak_memory.h"

namespace headscope::app {
namespace {

constexpr std::size_t kHostile = 20'000'000;

/// A scene's JSON that contains the fields `inside`.
std::string sceneText(const std::string& inside) {
  return "{\"format\": \"headscope scene\", \"version\": 2, " + inside + "}";
}

/// "[x,x,…]" of about `bytes` bytes.
std::string listOf(const std::string& entry, std::size_t bytes) {
  std::string list = "[" + entry;
  while (list.size() + entry.size() + 2 < bytes) list += "," + entry;
  return list + "]";
}

std::string objectOfNames(std::size_t first, std::size_t bytes) {
  std::string object = "{";
  for (std::size_t i = first; object.size() < bytes; ++i)
    object += (i == first ? "\"" : ",\"") + std::to_string(i) + "\":0";
  return object + "}";
}

/// Expects 20 MB to be refused within the memory that the limits leave in addition to the text.
void expectRefusedCheaply(const std::string& text, const std::string& part) {
  ASSERT_GT(text.size(), kHostile / 2);
  std::string message;
  const auto peak = test::peakMemoryOf([&] {
    const auto scene = parseScene(text, "a.json");
    if (!scene.ok()) message = scene.error().message;
  });
  EXPECT_THAT(message, HasSubstr(part));
  if (peak) {
    EXPECT_LT(*peak, (std::uint64_t{64} << 20) - kHostile) << part;
  }
}

TEST(SceneLimits, RefusesManyShortObjects) {
  const std::string objects = listOf("{}", kHostile);
  expectRefusedCheaply(sceneText("\"weights\": {\"planted\": " + objects + "}"), "longer than 16384 entries");
  expectRefusedCheaply(objects, "longer than 16384 entries");
}

TEST(SceneLimits, RefusesManyNames) {
  expectRefusedCheaply(objectOfNames(0, kHostile), "more than 256 names");
  expectRefusedCheaply(sceneText("\"model\": " + objectOfNames(0, kHostile)), "more than 256 names");
}

TEST(SceneLimits, RefusesManySmallLists) {
  const std::string zeros = listOf("0", 4000);
  expectRefusedCheaply(sceneText("\"a\": " + listOf(zeros, kHostile)), "\"a\" is not a field of a scene");
  expectRefusedCheaply(sceneText("\"input\": {\"table\": " + listOf(zeros, kHostile) + "}"),
                       "input.table has 4999 rows");
  const std::string names = listOf(objectOfNames(10, 400), 4000);
  expectRefusedCheaply(sceneText("\"mask\": {\"marks\": " + listOf(names, kHostile) + "}"),
                       "mask.marks[0] is not an object");
}

TEST(SceneLimits, RefusesLongTextsNumbersAndNames) {
  const std::string letters(kHostile, 'a');
  expectRefusedCheaply(sceneText("\"input\": {\"text\": \"" + letters + "\"}"), "longer than 4194304 bytes");
  expectRefusedCheaply(sceneText("\"" + letters + "\": 1"), "longer than 4194304 bytes");
  expectRefusedCheaply(sceneText("\"prefill\": " + std::string(kHostile, '1')), "more than 1000 digits");
  expectRefusedCheaply(std::string(kHostile, ' '), "this is not JSON: byte 20000000: found the end");
  expectRefusedCheaply(sceneText("\"input\": {\"text\": \"" + letters), "longer than 4194304 bytes");
}

/// A table may be this large; an error in its last row is still found.
TEST(SceneLimits, FindsMistakeAtEndOfLargeTable) {
  std::string rows = "[";
  const std::string row = "{\"values\":" + listOf("0", 2 * 4096 + 2) + "},";
  for (int i = 1; i < kMaxTokens; ++i) rows += row;
  rows += "{\"values\":[true]}]";
  expectRefusedCheaply(sceneText("\"input\": {\"table\": " + rows + "}"),
                       "input.table[2047] has 1 values, expected 4096");
}

/// The longest text a scene may have, however it is escaped, and one byte more.
TEST(SceneLimits, ReadsLongestTextAndRefusesLonger) {
  Scene scene = openingScene();
  scene.setup.input.text = std::string(kMaxTextBytes, '\x01');
  const auto read = parseScene(formatScene(scene), "a.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(*read == scene);
  std::string accents;
  for (std::size_t i = 0; i <= kMaxTextBytes / 2; ++i) accents += "\\u00e9";
  const auto refused = parseScene(sceneText("\"input\": {\"context\": \"" + accents + "\"}"), "a.json");
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              HasSubstr("input.context has 4194306 bytes, expected at most 4194304"));
}

TEST(SceneLimits, ReadingCanBeStopped) {
  std::stop_source stop;
  stop.request_stop();
  const auto scene = parseScene(formatScene(openingScene()), "a.json", stop.get_token());
  ASSERT_FALSE(scene.ok());
  EXPECT_THAT(scene.error().message, HasSubstr("stopped"));
}

}  // namespace
}  // namespace headscope::app
