#include <gtest/gtest.h>

#include "app/scene/fields.h"
#include "app/scene/scene_json.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::Result;
using test::Dice;

/// Parses arbitrary text. If a scene results, it has to be legal and survive being written.
Result<Scene> parseAnything(const std::string& text) {
  Result<Scene> scene = parseScene(text, "a.json");
  if (!scene.ok()) {
    EXPECT_THAT(scene.error().message, StartsWith("a.json: "));
    EXPECT_GT(scene.error().message.size(), std::string("a.json: ").size());
    return scene;
  }
  const auto valid = validate(*scene);
  EXPECT_TRUE(valid.ok()) << valid.error().message << "\n" << text;
  const Result<Scene> again = parseScene(formatScene(*scene), "again");
  EXPECT_TRUE(again.ok()) << again.error().message << "\n" << text;
  if (again.ok()) {
    EXPECT_EQ(*again, *scene) << text;
  }
  return scene;
}

void expectRefused(const std::string& text, const std::string& part) {
  const Result<Scene> scene = parseAnything(text);
  ASSERT_FALSE(scene.ok()) << text.substr(0, 200);
  EXPECT_THAT(scene.error().message, HasSubstr(part));
  EXPECT_LE(scene.error().message.size(), 400u);
}

TEST(SceneJsonDamaged, RefusesInvalidJson) {
  expectRefused("", "not JSON");
  expectRefused(" \n\t", "not JSON");
  expectRefused("scene", "not JSON");
  expectRefused("{\"format\": \"headscope scene\"", "not JSON");
  expectRefused("{'format': 1}", "not JSON");
  expectRefused("{} {}", "not JSON");
  expectRefused("{\"a\": \"\xFF\"}", "not JSON");
  expectRefused("{\"a\": \"\\ud800\"}", "not JSON");
  expectRefused("{\"a\": NaN}", "not JSON");
  expectRefused("// a comment\n{}", "not JSON");
}

TEST(SceneJsonDamaged, RefusesDeepNesting) {
  for (const int depth : {20, 100, 10'000, 1'000'000}) {
    const std::string open(static_cast<std::size_t>(depth), '['), close(static_cast<std::size_t>(depth), ']');
    expectRefused(open + close, "nested deeper");
    expectRefused("{\"format\": \"headscope scene\", \"version\": 1, \"input\": " + open + close + "}",
                  "nested deeper");
    expectRefused(open, "");
    std::string objects;
    for (int i = 0; i < depth; ++i) objects += "{\"a\":";
    expectRefused(objects + "1" + std::string(static_cast<std::size_t>(depth), '}'), "nested deeper");
  }
}

TEST(SceneJsonDamaged, RefusesHugeNumbers) {
  const std::string start = "{\"format\": \"headscope scene\", \"version\": 1, ";
  for (const char* number : {"1e999", "-1e999", "1e99999999999999999999", "18446744073709551616", "1e400",
                             "-9223372036854775809", "123456789012345678901234567890"}) {
    for (const char* field : {"heads", "sharpness", "rope_theta", "linked"})
      expectRefused(start + "\"model\": {\"" + field + "\": " + number + "}}", "");
    expectRefused(start + "\"prefill\": " + number + "}", "");
    expectRefused(start + "\"input\": {\"seed\": " + number + "}}", "");
  }
  for (const char* number : {"1e999", "1e39", "-3.5e38"})
    expectRefused(start + "\"input\": {\"table\": [{\"values\": [" + number + "]}]}}", "");
  const auto tiny = parseAnything(start + "\"model\": {\"dropout\": 1e-400}}");
  ASSERT_TRUE(tiny.ok()) << tiny.error().message;
  EXPECT_EQ(tiny->setup.model.dropout, 0);
}

/// With a duplicate name, programs would disagree on which value counts.
TEST(SceneJsonDamaged, RefusesDuplicateNames) {
  const std::string start = "{\"format\": \"headscope scene\", \"version\": 1, ";
  expectRefused(start + "\"prefill\": 3, \"prefill\": 4}", "\"prefill\"");
  expectRefused(start + "\"model\": {\"heads\": 8, \"bias\": true, \"heads\": 4}}", "\"heads\"");
  expectRefused(start + "\"input\": {\"table\": [{\"name\": \"a\", \"values\": [1], \"name\": \"b\"}]}}",
                "\"name\"");
  expectRefused(start + "\"weights\": {}, \"mask\": {}, \"weights\": {}}", "\"weights\"");
  EXPECT_TRUE(parseAnything(start + "\"weights\": {\"seed\": 1}, \"input\": {\"seed\": 1}}").ok());
}

/// A first row much wider than any table is refused before memory for all rows is allocated.
TEST(SceneJsonDamaged, RefusesWideFirstRowWithoutAllocating) {
  std::string table = "{\"values\": [0";
  for (int i = 0; i < 2'000'000; ++i) table += ",0";
  table += "]}";
  for (int i = 1; i < kMaxTokens; ++i) table += ",{}";
  expectRefused("{\"format\": \"headscope scene\", \"version\": 1, \"input\": {\"table\": [" + table + "]}}",
                "longer than 16384 entries");
}

/// Applies one kind of damage to a text: a changed byte, a dropped, doubled or moved range, or an inserted
/// piece that parsers may stumble over.
void damage(std::string& text, Dice& dice) {
  static const std::string kPieces[] = {"0",       "-1",   "1e999", "-0",       "18446744073709551615",
                                        "1e308",   "null", "true",  "[",        "]",
                                        "{",       "}",    "\"",    ",",        ":",
                                        "\\",      "[]",   "{}",    "\"\"",     "\n",
                                        "\\u0000", "\xFF", "1.5",   "64",       "65",
                                        "4096",    "2048", "rope",  "\"rope\"", "3",
                                        "e5",      "\xF0"};
  if (text.empty()) return;
  const std::size_t at = dice.below(text.size()),
                    length = 1 + dice.below(std::min<std::size_t>(text.size() - at, 40));
  switch (dice.below(6)) {
    case 0:
      text[at] = static_cast<char>(dice.below(256));
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8)));
      break;
    case 2:
      text.erase(at, length);
      break;
    case 3:
      text.insert(dice.below(text.size()), text.substr(at, length));
      break;
    case 4:
      text.insert(at, dice.pick(kPieces));
      break;
    default: {
      // Replacing one value with another keeps the document well-formed, so it is parsed further.
      const std::size_t colon = text.find(": ", at),
                        end = colon == std::string::npos ? colon : text.find_first_of(",\n", colon);
      if (end != std::string::npos) text.replace(colon + 2, end - colon - 2, dice.pick(kPieces));
    }
  }
}

TEST(SceneJsonDamaged, NeverReturnsAnInvalidScene) {
  Dice dice(5);
  int accepted = 0;
  for (int round = 0; round < 12'000; ++round) {
    Scene scene = round % 3 ? test::randomScene(dice, {}) : openingScene();
    std::string text = formatScene(scene);
    for (std::size_t damages = 1 + dice.below(3); damages > 0; --damages) damage(text, dice);
    accepted += parseAnything(text).ok();
    ASSERT_FALSE(HasFailure()) << "in round " << round;
  }
  // Some damages only change a letter of the text or a number within its range.
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 11'000);
}

}  // namespace
}  // namespace headscope::app
