#include "app/scene/scene_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/scene/fields.h"
#include "attention/text/tokenizer.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;
using test::Dice;

/// Expects one displayable sentence: a line of valid UTF-8 without control characters, of limited length.
void expectSentence(const std::string& message) {
  EXPECT_THAT(message, StartsWith("a.json: "));
  EXPECT_TRUE(attention::validateUtf8(message).ok()) << message;
  EXPECT_LE(message.size(), 400u) << message;
  for (const char c : message) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) << message;
}

/// The error message for `json`.
std::string refusedScene(const Json& json) {
  const auto scene = parseScene(json.dump(), "a.json");
  if (scene.ok()) {
    ADD_FAILURE() << "accepted: " << json.dump();
    return "";
  }
  expectSentence(scene.error().message);
  return scene.error().message;
}

/// A scene in which every list has entries.
Json fullScene() {
  Scene scene = openingScene();
  scene.setup.input.table.edit().names = {"the", ""};
  scene.setup.input.table.edit().values = attention::Matrix::Constant(2, 3, 0.1F);
  scene.setup.weights.file = "w.safetensors";
  scene.setup.input.contextText = "le chat";
  MaskSetup& mask = scene.setup.mask;
  attention::CellTable painting{1, 3, 5, {}};
  painting.rows = {std::make_shared<const attention::CellRow>(attention::CellRow{{{0, 2}}, {{3, 5}}}),
                   nullptr, nullptr};
  mask.paintings["a"] = painting;
  mask.marks.edit().resize(1);
  mask.marks.edit()[0] = {{{0, 3}}, 2, {{{1, 3}}}, {{0}}, 1, {{-1, 0}}, 2, 3};
  mask.additive = attention::Table{{}, attention::Matrix::Constant(2, 3, 0.1F)};
  mask.other = attention::parseMask("window(3)").layers;
  return Json::parse(formatScene(scene));
}

/// Converts /weights/planted/0/offset to "weights.planted[0].offset".
std::string dotted(const std::string& pointer) {
  std::string path;
  for (std::size_t at = 1; at <= pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', at), pointer.size());
    const std::string part = pointer.substr(at, end - at);
    const bool number = part.find_first_not_of("0123456789") == std::string::npos;
    path += number ? "[" + part + "]" : (path.empty() ? "" : ".") + part;
    at = end + 1;
  }
  return path;
}

/// The field that a message names for a place; a run of cells is named as a whole.
std::string named(const std::string& place) {
  const auto numbersAtEnd = [](std::string path) {
    int count = 0;
    for (; path.find_last_not_of("0123456789") == path.rfind('/'); ++count) path.erase(path.rfind('/'));
    return count;
  };
  return dotted(numbersAtEnd(place) == 2 ? place.substr(0, place.rfind('/')) : place);
}

/// All places of the document below the root, as JSON pointers: "/model", "/model/heads", …
std::vector<std::string> places(const Json& json, const std::string& at = "") {
  std::vector<std::string> all;
  if (!json.is_structured()) return all;
  for (const auto& item : json.items()) {
    const std::string here = at + "/" + item.key();
    all.push_back(here);
    for (const std::string& inner : places(item.value(), here)) all.push_back(inner);
  }
  return all;
}

TEST(SceneJson, RoundTripsTheOpeningScene) {
  const auto scene = parseScene(formatScene(openingScene()), "a.json");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  EXPECT_EQ(*scene, openingScene());
}

TEST(SceneJson, RoundTripsAnyScene) {
  Dice dice(11);
  for (int i = 0; i < 2000; ++i) {
    const Scene scene = test::randomScene(dice, test::kAnyScene);
    const std::string text = formatScene(scene);
    const auto again = parseScene(text, "a.json");
    ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
    ASSERT_EQ(*again, scene) << text;
    ASSERT_EQ(formatScene(*again), text);
  }
}

TEST(SceneJson, IsIndentedAndEndsWithNewline) {
  const std::string text = formatScene(openingScene());
  EXPECT_THAT(text, StartsWith("{\n  \"format\": \"headscope scene\",\n  \"version\": 2,\n"));
  EXPECT_EQ(text.back(), '\n');
}

/// Broken text can't be typed, but must not make saving fail.
TEST(SceneJson, WritesBrokenTextAsReplacementCharacters) {
  Scene scene = openingScene();
  scene.setup.input.text = "caf\xE9 \xF0\x9F";
  const auto again = parseScene(formatScene(scene), "a.json");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_THAT(again->setup.input.text, StartsWith("caf\uFFFD "));
}

TEST(SceneJson, MissingFieldsDefaultToOpeningScene) {
  for (const int version : {1, 2}) {
    const Json least{{"format", "headscope scene"}, {"version", version}};
    const auto scene = parseScene(least.dump(), "a.json");
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    EXPECT_EQ(*scene, openingScene());
  }
  // Each field is optional. Without it another field may no longer fit, which is then reported.
  const Json full = fullScene();
  const std::vector<std::string> needed{"/input/table/0/values",   "/input/table/1/values",
                                        "/mask/additive/0/values", "/mask/additive/1/values",
                                        "/mask/paintings/0/name",  "/mask/paintings/0/queries",
                                        "/mask/paintings/0/keys",  "/mask/paintings/0/rows/0/row"};
  for (const std::string& place : places(full)) {
    const Json::json_pointer pointer(place);
    if (full.at(pointer.parent_pointer()).is_array()) continue;
    Json fewer = full;
    fewer.at(pointer.parent_pointer()).erase(pointer.back());
    const auto without = parseScene(fewer.dump(), "a.json");
    if (place == "/format" || place == "/version") {
      EXPECT_FALSE(without.ok()) << place;
    } else if (std::find(needed.begin(), needed.end(), place) == needed.end()) {
      EXPECT_TRUE(without.ok()) << place << ": " << without.error().message;
    }
  }
}

TEST(SceneJson, NamesEveryMisspelledField) {
  const Json full = fullScene();
  for (const std::string& place : places(full)) {
    const Json::json_pointer pointer(place);
    if (full.at(pointer.parent_pointer()).is_array()) continue;
    for (const std::string& wrong :
         {pointer.back() + "x", "_" + pointer.back(), std::string("Heads"), std::string()}) {
      Json changed = full;
      const Json value = changed.at(pointer);
      changed.at(pointer.parent_pointer()).erase(pointer.back());
      changed.at(pointer.parent_pointer())[wrong] = value;
      const std::string message = refusedScene(changed);
      if (place == "/format" || place == "/version") continue;  // its absence is reported first
      const std::string parent = dotted(pointer.parent_pointer().to_string());
      EXPECT_THAT(message, HasSubstr("\"" + (parent.empty() ? "" : parent + ".") + wrong + "\""));
    }
  }
}

TEST(SceneJson, NamesFieldsOfWrongType) {
  const Json full = fullScene();
  const Json others[] = {
      nullptr,        true,          3, 2.5, -1e300, "zzz", "", Json::array(), Json::array({1, "x"}),
      Json::object(), Json{{"x", 1}}};
  for (const std::string& place : places(full)) {
    const Json::json_pointer pointer(place);
    const Json& now = full.at(pointer);
    for (const Json& other : others) {
      const bool sameKind = now.type() == other.type() || (now.is_number() && other.is_number());
      const bool alsoWhole = now.is_number_float() || !other.is_number_float();
      if (sameKind && alsoWhole) continue;
      Json changed = full;
      changed.at(pointer) = other;
      EXPECT_THAT(refusedScene(changed), HasSubstr(named(place) + " is ")) << other.dump();
    }
  }
}

template <std::size_t N>
std::string listOf(const std::array<std::string_view, N>& names) {
  return "expected " + std::string(names[0]);
}

TEST(SceneJson, NamesUnknownChoices) {
  const std::pair<const char*, std::string> choices[] = {
      {"/input/tokenization", listOf(kTokenizationNames)},
      {"/input/embedding", listOf(kEmbeddingNames)},
      {"/model/position", listOf(kPositionNames)},
      {"/weights/source", listOf(kWeightNames)},
      {"/cursor/studio/view", listOf(kTabNames)},
      {"/weights/planted/3/pattern", listOf(kBehaviourNames)},
      {"/look/quantity", listOf(kQuantityNames)},
      {"/look/range", listOf(kRangeNames)},
      {"/look/colormap", listOf(kColormapNames)},
      {"/look/score_colormap", listOf(kColormapNames)}};
  const std::string words[] = {"Words", "wordsx", "", " ", "0", "\x1B[2J\x07", std::string(5000, 'x'), "猫"};
  for (const auto& [place, expected] : choices)
    for (const std::string& word : words) {
      Json changed = fullScene();
      changed.at(Json::json_pointer(place)) = word;
      EXPECT_THAT(refusedScene(changed), AllOf(HasSubstr(dotted(place)), HasSubstr(expected)));
    }
}

TEST(SceneJson, NamesNumbersOutOfRange) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  const std::pair<const char*, std::vector<Json>> numbers[] = {
      {"/model/heads", {0, -1, 65, 1u << 31, kMax, kMax - 7, -9223372036854775807}},
      {"/model/kv_heads", {0, -1, 3, 65, kMax}},
      {"/model/head_dim", {0, 513, kMax}},
      {"/model/model_dim", {0, 4097, kMax}},
      {"/model/sharpness", {-0.5, 101, 1e300, -1e300}},
      {"/model/softcap", {-0.5, 1001, 1e300}},
      {"/model/dropout", {-0.5, 0.96, 1, 1e300}},
      {"/model/rope_theta", {0, 0.5, -1, 2e9, 1e300}},
      {"/model/t5_buckets", {0, 2, 5, -4, 130, kMax}},
      {"/model/t5_distance", {0, 16, -1, 2049, kMax}},
      {"/model/t5_strength", {-0.5, 101, 1e300}},
      {"/mask/paintings/0/queries", {-1, 2049, kMax}},
      {"/mask/paintings/0/keys", {-1, 2049, kMax}},
      {"/mask/paintings/0/rows/0/row", {-1, 3, 2049, kMax}},
      {"/mask/paintings/0/rows/0/visible/0/0", {-1, 2, 2049, kMax, kMax - 7, 0.5}},
      {"/mask/paintings/0/rows/0/visible/0/1", {-1, 0, 6, 2049, kMax, kMax - 7, 1.5}},
      {"/mask/marks/0/documents/1", {-1, 0, 2049, kMax, kMax - 7, 1.5}},
      {"/mask/marks/0/prefix", {-1, -2, 2049, kMax, 1.5}},
      {"/mask/marks/0/images/0/1", {-1, 0, 2049, kMax, 1.5}},
      {"/mask/marks/0/globals/0", {-1, 2049, kMax}},
      {"/mask/marks/0/tree_prefix", {-1, -2, 2049, kMax}},
      {"/mask/marks/0/parents/0", {-2, 2049, kMax, kMax - 7}},
      {"/mask/marks/0/grid_height", {0, -1, 2049, kMax}},
      {"/mask/marks/0/grid_width", {0, -1, 2049, kMax}},
      {"/cursor/studio/block_size", {0, 15, 129, kMax}},
      {"/cursor/studio/layers", {0, -1, 33, kMax}},
      {"/cursor/studio/wipe", {-0.1, 1.1, 1e300}},
      {"/prefill", {0, -1, 2049, kMax}},
      {"/look/cache_bytes", {0, 3, -4, kMax}},
      {"/input/seed", {-1, 0.5, -9223372036854775807}},
      {"/weights/seed", {-1, 1e3}},
      {"/cursor/focus", {kMax, kMax - 1, 1LL << 40, -(1LL << 40)}},
      {"/cursor/step", {kMax, 1e3}},
      {"/version", {0, 3, -1, kMax, 1.0}}};
  for (const auto& [place, values] : numbers)
    for (const Json& value : values) {
      Json changed = fullScene();
      changed.at(Json::json_pointer(place)) = value;
      EXPECT_THAT(refusedScene(changed), HasSubstr(named(place))) << value.dump();
    }
  for (const Json& offset : std::vector<Json>{2049, -2049, kMax}) {
    Json changed = fullScene();
    changed["weights"]["planted"][2]["offset"] = offset;
    EXPECT_THAT(refusedScene(changed), HasSubstr("weights.planted"));
  }
}

TEST(SceneJson, ReadsFullRangeOfSeeds) {
  Json changed = fullScene();
  changed["input"]["seed"] = std::numeric_limits<std::uint64_t>::max();
  const auto scene = parseScene(changed.dump(), "a.json");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  EXPECT_EQ(scene->setup.input.seed, std::numeric_limits<std::uint64_t>::max());
}

TEST(SceneJson, NamesErrorsInTables) {
  const auto with = [](Json table) {
    Json changed = fullScene();
    changed["input"]["table"] = std::move(table);
    return changed;
  };
  const auto row = [](Json values) { return Json{{"name", "a"}, {"values", std::move(values)}}; };
  EXPECT_THAT(refusedScene(with(Json::array({row({1, 2}), row({1, 2, 3})}))),
              HasSubstr("input.table[1] has 3 values, expected 2"));
  EXPECT_THAT(refusedScene(with(Json::array({row({1, 2}), row({1, "2"})}))),
              HasSubstr("input.table[1].values[1]"));
  EXPECT_THAT(refusedScene(with(Json::array({row({1, nullptr})}))), HasSubstr("input.table[0].values[1]"));
  EXPECT_THAT(refusedScene(with(Json::array({row({1e39})}))), HasSubstr("input.table[0].values[0]"));
  EXPECT_THAT(refusedScene(with(Json::array({row(Json::array())}))), HasSubstr("input.table[0]"));
  EXPECT_THAT(refusedScene(with(Json::array({row(std::vector<int>(kMaxModelDim + 1, 0))}))),
              HasSubstr("4097"));
  EXPECT_THAT(refusedScene(with(Json::array({7}))), HasSubstr("input.table[0] is not an object"));
  EXPECT_THAT(refusedScene(with(std::vector<Json>(kMaxTokens + 1, row({1})))), HasSubstr("2049 rows"));
  Json crowd = fullScene();
  crowd["weights"]["planted"] = std::vector<Json>(kMaxHeads + 1, Json{{"pattern", "uniform"}});
  EXPECT_THAT(refusedScene(crowd), HasSubstr("weights.planted has 65 entries"));
}

TEST(SceneJson, ReadsFormerNamesOfFieldsAndTabs) {
  Json old = fullScene();
  old["cursor"]["cache_room"] = "paging";
  old["cursor"]["studio"]["room"] = "compare";
  old["cursor"]["lab"]["room"] = "hull";
  old["cursor"]["lab"]["tab"] = "many";
  for (const char* group : {"studio", "lab"}) old["cursor"][group].erase("view");
  old["cursor"].erase("cache_view");
  const auto scene = parseScene(old.dump(), "old.json");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  EXPECT_EQ(scene->cursor.cacheView, CacheView::paging);
  EXPECT_EQ(scene->cursor.studio.tab, StudioTab::compare);
  EXPECT_EQ(scene->cursor.lab.ablationView, AblationView::hull);
  EXPECT_EQ(scene->cursor.lab.tab, "head_count");
}

/// Lab once had a tab Precision. Cache shows the same.
TEST(SceneJson, OpensAFormerTabOfLabAsCachesPrecision) {
  Json old = fullScene();
  old["cursor"]["page"] = "lab";
  old["cursor"]["lab"]["tab"] = "precision";
  old["cursor"]["cache_view"] = "growth";
  old["talk"] = Json::array({{{"page", "lab"}, {"scene", {{"cursor.lab.tab", "precision"}}}}});
  const auto scene = parseScene(old.dump(), "old.json");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  for (const Scene* each : {&*scene, scene->talk->views.at(0).scene.get()}) {
    EXPECT_EQ(each->cursor.page, "cache");
    EXPECT_EQ(each->cursor.cacheView, CacheView::precision);
    EXPECT_EQ(each->cursor.lab.tab, "");
  }
  old["cursor"]["page"] = "heads";
  EXPECT_EQ(parseScene(old.dump(), "old.json")->cursor.page, "heads");
}

/// Lab's first tab was once Pipeline, which views didn't name.
TEST(SceneJson, OpensAFormerPipelineAsFlow) {
  Json old = fullScene();
  old["cursor"]["page"] = "lab";
  old["cursor"]["lab"]["tab"] = "pipeline";
  old["cursor"]["lab"]["step"] = "softmax";
  old["cursor"]["lab"]["map"] = "v";
  old["talk"] =
      Json::array({{{"page", "lab"}, {"scene", {{"cursor.lab.step", "softmax"}, {"cursor.lab.map", "v"}}}},
                   {{"page", "lab"}, {"scene", {{"cursor.lab.tab", "views"}}}}});
  const auto scene = parseScene(old.dump(), "old.json");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  for (const Scene* each : {&*scene, scene->talk->views.at(0).scene.get()}) {
    EXPECT_EQ(each->cursor.page, "flow");
    EXPECT_EQ(each->cursor.flow, (FlowCursor{PipelineStep::softmax, 1}));
  }
  EXPECT_EQ(scene->talk->views.at(1).scene->cursor.page, "lab");
  old["cursor"]["lab"]["tab"] = "weights";
  EXPECT_EQ(parseScene(old.dump(), "old.json")->cursor.page, "lab");
}

TEST(SceneJson, RefusesOtherFilesAndVersions) {
  Json other = fullScene();
  other["version"] = 3;
  EXPECT_THAT(refusedScene(other), HasSubstr("version 3, this program reads versions 1 to 2"));
  other = fullScene();
  other["format"] = "headscope lesson";
  EXPECT_THAT(refusedScene(other), HasSubstr("not a Headscope scene"));
  EXPECT_THAT(refusedScene(Json::object()), HasSubstr("not a Headscope scene"));
  EXPECT_THAT(refusedScene(Json{{"name", "package"}, {"version", "1.0.0"}}), HasSubstr("version"));
  for (const Json& root : {Json(), Json(1), Json("scene"), Json::array(), Json::array({fullScene()})})
    EXPECT_THAT(refusedScene(root), HasSubstr("the file is not an object"));
}

}  // namespace
}  // namespace headscope::app
