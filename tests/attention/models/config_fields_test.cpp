// Every field that a family's published code knows is used, known not to matter, or refused by name.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "attention/models/config/config_reader.h"
#include "attention/models/config/families.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/plain/plain_encoder_decoder.h"
#include "tests/attention/models/plain/plain_model.h"
#include "tests/attention/models/plain/plain_vision.h"
#include "tests/attention/models/published_fields.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A config.json of the family that is read without notes.
OrderedJson configOf(const Family& family) {
  std::vector<std::string> configs;
  for (const PlainModel& model : plainModels()) configs.push_back(model.config);
  for (const PlainVision& model : plainVisionModels()) configs.push_back(model.config);
  for (const std::string& config : configs) {
    OrderedJson json = OrderedJson::parse(config);
    if (!json.contains("model_type")) json["model_type"] = "bert";
    if (json["model_type"] == family.name) return json;
  }
  for (const PlainPair& pair : plainPairs())
    if (OrderedJson json = OrderedJson::parse(pair.config); json["model_type"] == family.name) return json;
  throw std::runtime_error("there is no config of " + std::string(family.name));
}

/// The object that describes the model.
OrderedJson& described(const Family& family, OrderedJson& json) {
  return family.nested.empty() ? json : json[std::string(family.nested)];
}

Result<ModelConfig> read(const OrderedJson& json) {
  return readModelConfig(json.dump(), "config.json");
}

/// Visits the names of one list, including its bases' names.
template <class Visit>
void walk(const ConfigFields* fields, std::string_view ConfigFields::*list, Visit&& visit) {
  for (; fields; fields = fields->base)
    forEachField(fields->*list, [&](std::string_view name, std::string_view) { visit(std::string(name)); });
}

std::set<std::string> namesOf(const ConfigFields& fields, std::string_view ConfigFields::*list) {
  std::set<std::string> names;
  walk(&fields, list, [&](const std::string& name) { names.insert(name); });
  return names;
}

TEST(ConfigFields, ListsEveryFieldOfPublishedCode) {
  for (const Family* family : familyTable()) {
    const auto published = kPublished.find(std::string(family->name));
    ASSERT_NE(published, kPublished.end()) << family->name << " is not in this test";
    forEachField(published->second, [&](std::string_view name, std::string_view) {
      const auto isOn = [&](std::string_view ConfigFields::*list) {
        return namesOf(family->fields, list).contains(std::string(name));
      };
      EXPECT_TRUE(name == family->nested || isOn(&ConfigFields::read) || isOn(&ConfigFields::ignored) ||
                  isOn(&ConfigFields::fixed))
          << family->name << ": " << name;
    });
  }
}

TEST(ConfigFields, KnowsEveryFieldOfPublishedFiles) {
  for (const Family* family : familyTable())
    if (const auto found = kInPublishedFiles.find(std::string(family->name));
        found != kInPublishedFiles.end())
      forEachField(found->second, [&](std::string_view name, std::string_view) {
        EXPECT_TRUE(knows(family->fields, name)) << family->name << ": " << name;
      });
}

/// No value of the wrong type passes: a field that is listed as read is really read.
TEST(ConfigFields, RefusesWrongTypesInReadFields) {
  for (const Family* family : familyTable())
    for (const std::string& name : namesOf(family->fields, &ConfigFields::read)) {
      OrderedJson json = configOf(*family);
      const bool shared = namesOf(kSharedFields, &ConfigFields::read).contains(name);
      (shared && name != "is_causal" ? json : described(*family, json))[name] =
          OrderedJson::array({OrderedJson::object()});
      const auto config = read(json);
      ASSERT_FALSE(config.ok()) << family->name << ": " << name << " is not read";
      EXPECT_THAT(config.error().message, HasSubstr(name)) << family->name;
    }
}

TEST(ConfigFields, RefusesOtherValuesInFixedFields) {
  for (const Family* family : familyTable())
    for (const std::string& name : namesOf(family->fields, &ConfigFields::fixed)) {
      OrderedJson json = configOf(*family);
      OrderedJson& object = described(*family, json);
      object[name] = "other";
      const auto config = read(json);
      ASSERT_FALSE(config.ok()) << family->name << ": " << name;
      EXPECT_THAT(config.error().message, HasSubstr(name + " is \"other\", expected ")) << family->name;
    }
}

TEST(ConfigFields, IgnoredFieldsChangeNothing) {
  for (const Family* family : familyTable()) {
    const auto plain = read(configOf(*family));
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    const auto own = namesOf(family->fields, &ConfigFields::read);
    for (const std::string& name : namesOf(family->fields, &ConfigFields::ignored)) {
      if (own.contains(name)) continue;
      OrderedJson json = configOf(*family);
      described(*family, json)[name] = OrderedJson::array({7});
      const auto config = read(json);
      ASSERT_TRUE(config.ok()) << family->name << ": " << config.error().message;
      EXPECT_EQ(*config, *plain) << family->name << ": " << name;
    }
  }
}

TEST(ConfigFields, ReportsUnknownFieldsOnce) {
  for (const Family* family : familyTable()) {
    OrderedJson json = configOf(*family);
    const auto plain = read(json);
    ASSERT_TRUE(plain.ok()) << plain.error().message;
    OrderedJson& object = described(*family, json);
    object["half_the_heads"] = true;
    object["unsaid"] = nullptr;
    const auto config = read(json);
    ASSERT_TRUE(config.ok()) << config.error().message;
    const std::string path = family->nested.empty() ? "" : std::string(family->nested) + ".";
    ASSERT_EQ(config->notes.size(), plain->notes.size() + 1) << family->name;
    EXPECT_EQ(config->notes.back(),
              "config.json has a field that Headscope doesn't know: \"" + path + "half_the_heads\".");
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
  ASSERT_EQ(read(json)->notes.size(), 1u);
  EXPECT_THAT(read(json)->notes[0], HasSubstr("auto_map"));
}

}  // namespace
}  // namespace headscope::attention::test
