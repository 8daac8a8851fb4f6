#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/compute/layer/mask_inputs.h"
#include "app/scene/scene_json.h"
#include "attention/text/tokenizer.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::CellRow;
using attention::CellTable;
using attention::KeyRuns;
using attention::MaskFormula;
using Json = nlohmann::ordered_json;
using test::Dice;

std::shared_ptr<const CellRow> row(KeyRuns visible, KeyRuns masked) {
  return std::make_shared<const CellRow>(CellRow{std::move(visible), std::move(masked)});
}

Scene sceneWith(MaskSetup mask) {
  Scene scene = openingScene();
  scene.setup.mask = std::move(mask);
  return scene;
}

Scene read(const std::string& text) {
  const auto scene = parseScene(text, "a.json");
  EXPECT_TRUE(scene.ok()) << scene.error().message << "\n" << text;
  return scene.ok() ? *scene : Scene{};
}

Json maskOf(const Scene& scene) {
  return Json::parse(formatScene(scene))["mask"];
}

std::string fileWith(const Json& mask, int version = 2) {
  return Json{{"format", "headscope scene"}, {"version", version}, {"mask", mask}}.dump();
}

std::string refusedMask(const Json& mask, int version = 2) {
  const auto scene = parseScene(fileWith(mask, version), "a.json");
  EXPECT_FALSE(scene.ok()) << "accepted: " << mask.dump();
  if (scene.ok()) return "";
  EXPECT_TRUE(attention::validateUtf8(scene.error().message).ok()) << scene.error().message;
  EXPECT_LE(scene.error().message.size(), 400u);
  return scene.error().message;
}

TEST(MaskJson, RoundTripsAnyMask) {
  Dice dice(31);
  for (int i = 0; i < 1500; ++i) {
    const Scene scene = sceneWith(test::randomMask(dice, {}));
    const std::string text = formatScene(scene);
    ASSERT_EQ(read(text), scene) << text;
    ASSERT_EQ(formatScene(read(text)), text);
  }
}

TEST(MaskJson, WritesReadableJson) {
  MaskSetup mask;
  mask.layers = test::layersFrom("causal & window(3) | painted(\"a\")");
  mask.paintings["a"] = CellTable{1, 3, 9, {row({{0, 2}, {4, 5}}, {{8, 9}}), nullptr, row({}, {})}};
  mask.marks.edit().resize(2);
  mask.marks.edit()[1] = {{{3, 7}}, 2, {{{1, 4}, {4, 6}}}, {{0}}, 5, {{-1, 0}}, 2, 6};
  mask.additive = attention::Table{{}, attention::Matrix::Constant(1, 2, 0.5F)};
  mask.compare = true;
  mask.other = test::layersFrom("!full");
  const Json json = maskOf(sceneWith(mask));
  EXPECT_EQ(json["expression"], "causal & window(3) | painted(\"a\")");
  EXPECT_EQ(json["paintings"], Json::parse(R"([{"name": "a", "queries": 3, "keys": 9, "rows": [
      {"row": 0, "visible": [[0, 2], [4, 5]], "masked": [[8, 9]]},
      {"row": 2, "visible": [], "masked": []}]}])"));
  EXPECT_EQ(json["marks"], Json::parse(R"([{}, {"documents": [3, 7], "prefix": 2, "images": [[1, 4], [4, 6]],
      "globals": [0], "tree_prefix": 5, "parents": [-1, 0], "grid_height": 2, "grid_width": 6}])"));
  EXPECT_EQ(json["additive"], Json::parse(R"([{"name": "", "values": [0.5, 0.5]}])"));
  EXPECT_EQ(json["compare"], true);
  EXPECT_EQ(json["other"], "!full");
  EXPECT_EQ(read(formatScene(sceneWith(mask))), sceneWith(mask));
}

/// Empty lists are marks too: no document begins, there is no image. They differ from missing marks.
TEST(MaskJson, DistinguishesEmptyMarksFromNone) {
  MaskSetup mask;
  std::vector<attention::TextMarks> marks(2);
  marks[0].documentStarts.emplace();
  marks[0].images.emplace();
  marks[0].globals.emplace();
  marks[0].parents.emplace();
  marks[0].prefixLength = 0;
  mask.marks = marks;
  const Scene again = read(formatScene(sceneWith(mask)));
  EXPECT_TRUE(again.setup.mask.marks == mask.marks);
  EXPECT_NE(again.setup.mask.marks->at(0), again.setup.mask.marks->at(1));
}

TEST(MaskJson, EmptyAndFullPaintingsRoundTrip) {
  MaskSetup mask;
  mask.paintings["new"] = CellTable{};
  CellTable full{1, kMaxTokens, kMaxTokens, {}};
  full.rows.assign(static_cast<std::size_t>(kMaxTokens), row({{0, kMaxTokens}}, {}));
  mask.paintings["full"] = full;
  EXPECT_EQ(read(formatScene(sceneWith(mask))).setup.mask, mask);
}

TEST(MaskJson, EmptyExpressionMasksNothing) {
  EXPECT_TRUE(read(fileWith({{"expression", ""}})).setup.mask.layers.empty());
  EXPECT_EQ(read(fileWith(Json::object())).setup.mask.layers, openingMask()) << "missing, it stays";
}

/// Adjacent runs mean the same as one run; the rest of the program relies on the joined form.
TEST(MaskJson, JoinsAdjacentRuns) {
  const Scene scene = read(fileWith(Json::parse(R"({"paintings": [{"name": "a", "queries": 1, "keys": 9,
      "rows": [{"row": 0, "visible": [[0, 2], [2, 4], [5, 6]], "masked": [[6, 7], [7, 9]]}]}]})")));
  EXPECT_EQ(*scene.setup.mask.paintings.at("a")->rows[0], (CellRow{{{0, 4}, {5, 6}}, {{6, 9}}}));
}

Json painting(const std::string& rows, const std::string& name = "a", Index queries = 3, Index keys = 9) {
  return {{"name", name}, {"queries", queries}, {"keys", keys}, {"rows", Json::parse(rows)}};
}

TEST(MaskJson, NamesErrorsInPaintings) {
  const auto refusedRows = [](const std::string& rows) {
    return refusedMask({{"paintings", {painting(rows)}}});
  };
  const std::string at = "a.json: mask.paintings[0].rows[0]";
  EXPECT_THAT(refusedRows(R"([{"row": 3}])"), HasSubstr(at + ".row is 3"));
  EXPECT_THAT(refusedRows(R"([{}])"), HasSubstr(at + ".row is -1"));
  EXPECT_THAT(refusedRows(R"([{"row": 0, "visible": [[3, 10]]}])"), HasSubstr(at + ".visible[0] is [3,10]"));
  EXPECT_THAT(refusedRows(R"([{"row": 0, "visible": [[0, 2], [1, 3]]}])"),
              HasSubstr(at + ".visible[1] is [1,3]"));
  EXPECT_THAT(refusedRows(R"([{"row": 0, "masked": [[2, 2]]}])"), HasSubstr(at + ".masked[0] is [2,2]"));
  EXPECT_THAT(refusedRows(R"([{"row": 0, "masked": [[2, 18446744073709551615]]}])"),
              HasSubstr(at + ".masked[0] is [2,18446744073709551615]"));
  EXPECT_THAT(refusedRows(R"([{"row": 0, "masked": [[1]]}])"), HasSubstr(at + ".masked[0] is [1]"));
  EXPECT_THAT(refusedRows(R"([{"row": 0, "visible": [[0, 4]], "masked": [[3, 5]]}])"),
              HasSubstr(at + ".masked contains key 3, which is also visible"));
  EXPECT_THAT(refusedRows(R"([{"row": 1}, {"row": 1}])"),
              HasSubstr("mask.paintings[0].rows[1].row is 1, which an earlier row has"));
  EXPECT_THAT(refusedMask({{"paintings", {painting("[]"), painting("[]")}}}),
              HasSubstr("mask.paintings[1].name is \"a\", which another painting has"));
  EXPECT_THAT(refusedMask({{"paintings", {painting("[]", "")}}}),
              HasSubstr("mask.paintings[0].name is empty"));
  EXPECT_THAT(refusedMask({{"paintings", {painting("[]", "a", 2049)}}}),
              HasSubstr("mask.paintings[0].queries is 2049, expected 0 to 2048"));
  EXPECT_THAT(refusedMask({{"paintings", {painting("[]", "a", 1, -1)}}}),
              HasSubstr("mask.paintings[0].keys is -1"));
}

/// A painting of a few bytes in the file must not take unlimited memory.
TEST(MaskJson, LimitsTheSizeOfPaintings) {
  Json paintings = Json::array();
  for (int i = 0; i <= 512; ++i)
    paintings.push_back({{"name", std::to_string(i)}, {"queries", kMaxTokens}, {"keys", 1}});
  EXPECT_THAT(refusedMask({{"paintings", paintings}}), HasSubstr("mask.paintings have more than 1048576"));
  paintings.erase(0);
  EXPECT_EQ(read(fileWith({{"paintings", paintings}})).setup.mask.paintings.size(), 512u);
}

/// A wrong entry is truncated in messages, but never inside a character.
TEST(MaskJson, CutsLongEntriesBetweenCharacters) {
  for (int length = 1; length < 60; ++length) {
    std::string text;
    for (int i = 0; i < length; ++i) text += i % 2 ? "猫" : "é";
    EXPECT_THAT(refusedMask({{"marks", {{{"documents", {text}}}}}}),
                HasSubstr("mask.marks[0].documents[0] is "));
    EXPECT_THAT(
        refusedMask({{"marks", Json::array({Json{{"images", Json::array({Json::array({text, 3})})}}})}}),
        HasSubstr("mask.marks[0].images[0] is "));
  }
}

/// The position of an error in an expression is marked below it, in a form that a terminal and the window can
/// show.
TEST(MaskJson, PointsAtErrorsInExpressions) {
  for (const char* field : {"expression", "other"})
    for (const std::string wrong :
         {"causal & wimdow(3)", "causal &", "(causal", "window(0)", "\x1B[2J\x07"}) {
      const std::string message = refusedMask({{field, wrong}});
      EXPECT_THAT(message, HasSubstr("a.json: mask." + std::string(field) + ": "));
      EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 2) << message;
      EXPECT_EQ(message.back(), '^');
      for (const char c : message) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << message;
    }
}

TEST(MaskJson, EachVersionAcceptsOnlyItsFields) {
  EXPECT_THAT(refusedMask({{"causal", true}}, 2), HasSubstr("\"mask.causal\" is not a field"));
  EXPECT_THAT(refusedMask({{"expression", "causal"}}, 1), HasSubstr("\"mask.expression\" is not a field"));
  EXPECT_THAT(refusedMask({{"window_size", 0}}, 1), HasSubstr("mask.window_size is 0, expected 1 to 2048"));
  EXPECT_THAT(refusedMask({{"sink_count", 2049}}, 1), HasSubstr("mask.sink_count is 2049"));
  EXPECT_THAT(refusedMask({{"sinks", 1}}, 1), HasSubstr("mask.sinks is 1, expected true or false"));
}

TEST(MaskJson, SavesVersion1ScenesAsVersion2) {
  const Scene scene = read(fileWith({{"window", true}, {"window_size", 5}}, 1));
  EXPECT_EQ(Json::parse(formatScene(scene))["version"], 2);
  EXPECT_EQ(read(formatScene(scene)), scene);
  EXPECT_EQ(maskOf(scene)["expression"], "causal & window(5) & padding");
}

/// Every mask of version 1, over a batch of unequal lines, compared with the rules themselves: causal,
/// window, sinks and the length of the keys. Between two texts, windows, sinks and causality never had an
/// effect.
TEST(MaskJson, Version1MasksKeepEveryCell) {
  for (int choice = 0; choice < 32; ++choice)
    for (const auto& [windowSize, sinkCount] :
         {std::pair<Index, Index>{1, 1}, {3, 2}, {2, 9}, {2048, 2048}}) {
      const bool causal = choice & 1, padding = choice & 2, window = choice & 4, sinks = choice & 8,
                 cross = choice & 16;
      Json file = Json::parse(fileWith({{"causal", causal},
                                        {"padding", padding},
                                        {"window", window},
                                        {"window_size", windowSize},
                                        {"sinks", sinks},
                                        {"sink_count", sinkCount}},
                                       1));
      file["input"]["text"] = "a b c d e f g\nh i";
      file["input"]["cross"] = cross;
      file["input"]["context"] = "u v w\nx y z u v";
      const Snapshot snapshot = test::computed(read(file.dump()).setup);
      for (const SequenceSnapshot& sequence : snapshot.sequences) {
        const MaskFormula& mask = *sequence.mask.formula;
        const auto sees = [&, windowSize = windowSize, sinkCount = sinkCount](Index i, Index j) {
          const Index distance = std::abs(i - j);
          return (!padding || j < sequence.keyLength) &&
                 (cross ||
                  ((!causal || j <= i) && (!window || distance < windowSize || (sinks && j < sinkCount))));
        };
        for (Index head = 0; head < mask.heads(); head += 7)
          for (Index i = 0; i < mask.queries(); ++i)
            for (Index j = 0; j < mask.keys(); ++j)
              ASSERT_EQ(mask.visible(mask.variantOf(head), i, j), sees(i, j))
                  << "choice " << choice << ", window " << windowSize << ", sinks " << sinkCount << " at "
                  << i << ", " << j;
      }
    }
}

}  // namespace
}  // namespace headscope::app
