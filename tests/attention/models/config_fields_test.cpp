// Every field that a family's published code knows is used, known not to matter, or refused by name.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "attention/models/config/config_reader.h"
#include "attention/models/config/families.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/plain/plain_encoder_decoder.h"
#include "tests/attention/models/plain/plain_vision.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

using OrderedJson = nlohmann::ordered_json;
using FieldList = std::string_view ConfigFields::*;

/// published_fields.json, with "configs" of the families whose numbers only tests/references compares.
const OrderedJson& publishedJson() {
  static const auto json = OrderedJson::parse(
      headscope::test::fileText(HEADSCOPE_TEST_DIR "/attention/models/published_fields.json"));
  return json;
}

/// A config.json of each family that is read without notes.
std::map<std::string, OrderedJson> familyConfigs() {
  std::map<std::string, OrderedJson> configs;
  const auto add = [&](const auto& models) {
    for (const auto& model : models) {
      OrderedJson json = OrderedJson::parse(model.config);
      if (!json.contains("model_type")) json["model_type"] = "bert";
      configs.try_emplace(json["model_type"], json);
    }
  };
  add(plainModels());
  add(plainVisionModels());
  add(plainPairs());
  for (const auto& json : publishedJson().at("configs")) configs.try_emplace(json.at("model_type"), json);
  return configs;
}

const OrderedJson& configOf(const Family& family) {
  static const auto configs = familyConfigs();
  return configs.at(std::string(family.name));
}

/// The object that describes the model.
OrderedJson& described(const Family& family, OrderedJson& json) {
  return family.nested.empty() ? json : json[std::string(family.nested)];
}

Result<ModelConfig> read(const OrderedJson& json) {
  return readModelConfig(json.dump(), "config.json");
}

/// The names of one list, including its bases' names.
std::set<std::string> namesOf(const ConfigFields& fields, FieldList list) {
  std::set<std::string> names;
  for (const ConfigFields* each = &fields; each; each = each->base)
    forEachField(each->*list, [&](std::string_view name, std::string_view) { names.emplace(name); });
  return names;
}

/// Paths of the fields that are asked for when the family's config is read.
std::set<std::string, std::less<>> pathsRead(const Family& family) {
  auto paths = fieldsRead(family, *ConfigReader::parse(configOf(family).dump(), "config.json"));
  paths.insert("model_type");  // which tells the family
  return paths;
}

/// The path before the names of the object that describes the model: "text_config." or "".
std::string insideOf(const Family& family) {
  return family.nested.empty() ? "" : std::string(family.nested) + ".";
}

/// Names of the fields of the object that describes the model that are asked for or ignored.
std::set<std::string> namesKnown(const Family& family) {
  std::set<std::string> names = namesOf(family.fields, &ConfigFields::ignored);
  const std::string inside = std::string(family.nested) + ".";
  for (const std::string& path : pathsRead(family))
    names.insert(path.starts_with(inside) ? path.substr(inside.size()) : path);
  return names;
}

/// published_fields.json: the arguments of the families' configuration classes and what else their modelling
/// code reads in transformers 4.54, 4.57.3 and 5.5, except those that all models have ("code"); additional
/// fields in published files, from code that preceded transformers' and from other programs ("files").
std::vector<std::string> publishedFields(const std::string& section, const Family& family) {
  const OrderedJson& json = publishedJson();
  std::vector<std::string> names;
  const std::function<void(const OrderedJson&)> add = [&](const OrderedJson& list) {
    const auto lines =
        list.is_string() ? std::vector{list.get<std::string>()} : list.get<std::vector<std::string>>();
    for (const std::string& line : lines)
      forEachField(line, [&](std::string_view name, std::string_view) {
        if (name[0] == '@')
          add(json.at("groups").at(std::string(name.substr(1))));
        else
          names.emplace_back(name);
      });
  };
  if (const auto found = json.at(section).find(family.name); found != json.at(section).end()) add(*found);
  return names;
}

TEST(ConfigFields, ListsEveryFieldOfPublishedCode) {
  for (const Family* family : familyTable()) {
    const auto published = publishedFields("code", *family);
    EXPECT_FALSE(published.empty()) << family->name << " is not in published_fields.json";
    const auto known = namesKnown(*family);
    for (const std::string& name : published)
      EXPECT_TRUE(name == family->nested || known.contains(name)) << family->name << ": " << name;
    for (const std::string& name : publishedFields("files", *family))
      EXPECT_TRUE(known.contains(name)) << family->name << ": " << name;
  }
}

/// Reads each family's config with another value of each field on the list.
template <class Expect>
void withEachField(FieldList list, const OrderedJson& value, Expect&& expect) {
  for (const Family* family : familyTable())
    for (const std::string& name : namesOf(family->fields, list)) {
      SCOPED_TRACE(std::string(family->name) + ": " + name);
      OrderedJson json = configOf(*family);
      described(*family, json)[name] = value;
      expect(*family, name, read(json));
    }
}

/// No value of the wrong type passes.
TEST(ConfigFields, RefusesWrongTypesInReadFields) {
  for (const Family* family : familyTable())
    for (const std::string& path : pathsRead(*family)) {
      const std::string name = path.substr(path.rfind('.') + 1);
      const bool nested = path == std::string(family->nested) + "." + name;
      // Files in circulation have a "quantization" of other types, which isn't MLX's; other paths are those
      // of objects that the config doesn't have.
      if (path == "quantization" || (path != name && !nested)) continue;
      OrderedJson json = configOf(*family);
      (nested ? described(*family, json) : json)[name] = OrderedJson::array({OrderedJson::object()});
      EXPECT_THAT(messageOf(read(json)), HasSubstr(name)) << family->name << ": " << path;
    }
}

TEST(ConfigFields, RefusesOtherValuesInFixedFields) {
  withEachField(&ConfigFields::fixed, "other",
                [](const Family&, const std::string& name, const Result<ModelConfig>& config) {
                  EXPECT_THAT(messageOf(config), HasSubstr(name + " is \"other\", expected "));
                });
}

TEST(ConfigFields, IgnoredFieldsChangeNothing) {
  std::map<std::string_view, ModelConfig> plain;
  for (const Family* family : familyTable()) plain[family->name] = *checked(read(configOf(*family)));
  withEachField(&ConfigFields::ignored, OrderedJson::array({7}),
                [&](const Family& family, const std::string& name, const Result<ModelConfig>& config) {
                  if (pathsRead(family).contains(insideOf(family) + name)) return;
                  EXPECT_EQ(*checked(config), plain.at(family.name));
                });
}

TEST(ConfigFields, ReportsUnknownFieldsOnce) {
  for (const Family* family : familyTable()) {
    OrderedJson json = configOf(*family);
    auto expected = checked(read(json))->notes;
    OrderedJson& object = described(*family, json);
    object["half_the_heads"] = true;
    object["unsaid"] = nullptr;
    expected.push_back("config.json has a field that Headscope doesn't know: \"" + insideOf(*family) +
                       "half_the_heads\".");
    EXPECT_EQ(checked(read(json))->notes, expected) << family->name;
  }
  OrderedJson llama = configOf(families::llama);
  llama["x"] = 1;
  llama["rope_scaling"]["y"] = 2;
  EXPECT_EQ(read(llama)->notes.back(),
            "config.json has fields that Headscope doesn't know: \"rope_scaling.y\", \"x\".");
}

/// Gemma's modelling code reads hidden_act since transformers 4.48; Gemma 2's and 3's read only
/// hidden_activation.
TEST(ConfigFields, GemmaActivationFollowsPublishedCode) {
  const auto with = [](const Family& family, const char* act, const char* activation) {
    OrderedJson json = configOf(family);
    json.erase("hidden_act");
    json.erase("hidden_activation");
    if (act) json["hidden_act"] = act;
    if (activation) json["hidden_activation"] = activation;
    return *read(json);
  };
  EXPECT_EQ(with(families::gemma, "relu", nullptr).activation, Activation::relu);
  EXPECT_EQ(with(families::gemma, nullptr, nullptr).activation, Activation::geluTanh);
  EXPECT_THAT(with(families::gemma, "relu", nullptr).notes, testing::IsEmpty());
  EXPECT_EQ(with(families::gemma2, "relu", nullptr).activation, Activation::geluTanh);
  for (const Family* family : {&families::gemma, &families::gemma2}) {
    const ModelConfig both = with(*family, "relu", "gelu");
    EXPECT_EQ(both.activation, Activation::gelu);
    EXPECT_THAT(both.notes, testing::ElementsAre(
                                "config.json says \"relu\" for hidden_act, \"gelu\" for hidden_activation: "
                                "the latter counts."));
  }
}

TEST(ConfigFields, GoldenModelsHaveNoUnknownFields) {
  for (const std::string& family : kGoldenFamilies) {
    const auto text = headscope::test::fileText(goldenModel(family) / "config.json");
    EXPECT_THAT(readModelConfig(text, "config.json")->notes, testing::IsEmpty()) << family;
  }
}

TEST(ConfigFields, NotesThatCustomCodeIsNotRun) {
  OrderedJson json = configOf(families::phi3);
  json["auto_map"] = {{"AutoModelForCausalLM", "modeling_phi3.Phi3ForCausalLM"}};
  EXPECT_THAT(read(json)->notes, ElementsAre(HasSubstr("auto_map")));
}

}  // namespace
}  // namespace headscope::attention::test
