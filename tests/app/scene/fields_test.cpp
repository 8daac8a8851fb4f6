// The document's table of fields, row by row.

#include "app/scene/fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/scene/scene_json.h"
#include "test_paths.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using Json = nlohmann::ordered_json;

Json::json_pointer pointerOf(const Field& field) {
  std::string pointer = "/" + std::string(field.path);
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return Json::json_pointer(pointer);
}

/// A scene in which each number can be set to either end of its range independently.
Json roomyScene() {
  Json json = Json::parse(formatScene(openingScene()));
  json["model"].update({{"linked", false}, {"heads", 64}, {"kv_heads", 1}});
  json["model"].update({{"model_dim", 2048}, {"t5_buckets", 4}, {"t5_distance", kMaxTokens}});
  return json;
}

bool isWhole(const Field& field) {
  return std::holds_alternative<Member<Index>>(field.access);
}

Json numberOf(const Field& field, double value) {
  return isWhole(field) ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

/// The ends of a range, or all values if there are few.
std::vector<Json> legalValues(const Field& field) {
  std::vector<Json> values;
  if (const auto* range = std::get_if<Range>(&field.values))
    values = {numberOf(field, range->low), numberOf(field, range->high)};
  if (const auto* few = std::get_if<OneOf>(&field.values))
    values.assign(few->values.begin(), few->values.end());
  if (const auto* names = std::get_if<Names>(&field.values))
    values.assign(names->names.begin(), names->names.end());
  if (std::holds_alternative<Member<bool>>(field.access)) values = {false, true};
  if (std::holds_alternative<Member<std::uint64_t>>(field.access))
    values = {0, std::numeric_limits<std::uint64_t>::max()};
  return values;
}

std::vector<Json> illegalValues(const Field& field) {
  std::vector<Json> values;
  if (const auto* range = std::get_if<Range>(&field.values)) {
    const double beyond = isWhole(field) ? 1 : (range->high - range->low) / 1000;
    values = {numberOf(field, range->low - beyond), numberOf(field, range->high + beyond)};
    if (range->step != 1) values.push_back(numberOf(field, range->low + 1));
  }
  if (const auto* few = std::get_if<OneOf>(&field.values)) values = {few->values.front() + 1, 0, -1};
  if (std::holds_alternative<Names>(field.values)) values = {"something", "", 0};
  if (std::holds_alternative<Member<bool>>(field.access)) values = {0, "true"};
  if (std::holds_alternative<Member<std::uint64_t>>(field.access)) values = {-1, 0.5};
  return values;
}

TEST(Fields, MatchTheSceneFileInOrder) {
  const Json json = Json::parse(formatScene(openingScene()));
  std::vector<std::string> leaves;
  const auto walk = [&](const auto& self, const Json& object, const std::string& path) -> void {
    for (const auto& item : object.items())
      if (item.value().is_object())
        self(self, item.value(), path + item.key() + ".");
      else
        leaves.push_back(path + item.key());
  };
  walk(walk, json, "");
  std::vector<std::string> paths{"format", "version"};
  for (const Field& field : allFields()) paths.emplace_back(field.path);
  EXPECT_EQ(leaves, paths);
  EXPECT_EQ(std::set(paths.begin(), paths.end()).size(), paths.size());
}

TEST(Fields, HaveHelpRangesAndLabels) {
  for (const Field& field : allFields()) {
    SCOPED_TRACE(field.path);
    const std::string help = field.help;
    ASSERT_GT(help.size(), 8u);
    EXPECT_EQ(help.back(), '.');
    EXPECT_EQ(help.find(". "), help.rfind(". ")) << "one sentence, or two";
    EXPECT_FALSE(valuesText(field).empty());
    if (const auto* range = std::get_if<Range>(&field.values)) {
      EXPECT_LT(range->low, range->high);
    }
    if (isWhole(field) || std::holds_alternative<Member<float>>(field.access) ||
        std::holds_alternative<Member<double>>(field.access)) {
      EXPECT_FALSE(std::holds_alternative<Anything>(field.values)) << "numbers have limits";
    }
    EXPECT_EQ(std::holds_alternative<EnumMember>(field.access), std::holds_alternative<Names>(field.values));
  }
}

TEST(Fields, ControlsFitTheirValues) {
  for (const Field& field : allFields()) {
    SCOPED_TRACE(field.path);
    if (const auto* slider = std::get_if<Slider>(&field.control)) {
      EXPECT_TRUE(*slider->name && *slider->label);
      const Track track = trackOf(field);
      EXPECT_LT(track.low, track.high);
      EXPECT_TRUE(allows(field, track.low) && allows(field, track.high)) << "all of the track is legal";
    } else if (const auto* toggle = std::get_if<Toggle>(&field.control)) {
      EXPECT_TRUE(*toggle->name && *toggle->label);
      EXPECT_TRUE(std::holds_alternative<Member<bool>>(field.access));
    } else if (const auto* selection = std::get_if<Selection>(&field.control)) {
      EXPECT_TRUE(*selection->name);
      EXPECT_EQ(selection->labels.size(), legalValues(field).size()) << "a label for each value";
    } else {
      EXPECT_TRUE(*std::get<Elsewhere>(field.control).how);
    }
  }
}

TEST(Fields, RoundTripAtTheEndsOfTheirRanges) {
  for (const Field& field : allFields())
    for (const Json& value : legalValues(field)) {
      Json json = roomyScene();
      json.at(pointerOf(field)) = value;
      const auto scene = parseScene(json.dump(), "a.json");
      ASSERT_TRUE(scene.ok()) << scene.error().message;
      const Json written = Json::parse(formatScene(*scene)).at(pointerOf(field));
      if (written.is_number_float())
        EXPECT_FLOAT_EQ(written.get<float>(), value.get<float>()) << field.path;
      else
        EXPECT_EQ(written, value) << field.path;
      const auto again = parseScene(formatScene(*scene), "a.json");
      ASSERT_TRUE(again.ok()) << again.error().message;
      EXPECT_EQ(*again, *scene) << field.path;
    }
}

TEST(Fields, RefusesOutOfRangeValuesByName) {
  for (const Field& field : allFields())
    for (const Json& value : illegalValues(field)) {
      Json json = roomyScene();
      json.at(pointerOf(field)) = value;
      const auto scene = parseScene(json.dump(), "a.json");
      ASSERT_FALSE(scene.ok()) << field.path << " took " << value;
      const std::string name(field.path);
      EXPECT_THAT(scene.error().message, HasSubstr("a.json: " + name + " is ")) << value;
      EXPECT_THAT(scene.error().message, HasSubstr("expected ")) << value;
    }
}

TEST(Fields, MatchTheTableInTheManual) {
  std::ifstream file(HEADSCOPE_SOURCE_DIR "/assets/manual/scenes.md");
  const std::string manual(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(manual.find(fieldsMarkdown()), std::string::npos)
      << "the manual has another table of the scene's fields; `headscope help --update` rewrites it";
}

TEST(Fields, RefusesMisspelledPaths) {
  EXPECT_EQ(fieldAt("model.softcap").path, "model.softcap");
  EXPECT_THROW(fieldAt("model.soft_cap"), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::app
