// model_shapes.json: what is counted from each config.json, and the refusals of those that can't be counted.

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "attention/cache/model_cost.h"
#include "attention/models/config/model_catalogue.h"
#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

using Json = nlohmann::json;

ModelShape shapeFrom(std::string_view json) {
  return *checked(readModelShape(json, "config.json"));
}

std::uint64_t bytesAt(const ModelShape& shape, Index tokens) {
  return cacheBytes(shape, tokens, 1, NumberFormat::bf16);
}

/// "12 full, 36 chunk".
std::string kindsOf(const ModelShape& shape) {
  std::string text;
  for (const LayerGroup& group : layerGroups(shape))
    text += (text.empty() ? "" : ", ") + std::to_string(group.layers) + " " +
            std::string(kCacheKindNames[static_cast<std::size_t>(group.kind)]);
  return text;
}

using Figure = Json (*)(const ModelShape&);

/// What a row may say exactly.
const std::map<std::string, Figure> kFigures = {
    {"bits", [](const ModelShape& s) { return Json(s.weights.bits); }},
    {"weights", [](const ModelShape& s) { return Json(s.weights.name); }},
    {"computes",
     [](const ModelShape& s) {
       return Json(kMathFormatNames[static_cast<std::size_t>(s.weights.computes)]);
     }},
    {"kinds", [](const ModelShape& s) { return Json(kindsOf(s)); }},
    {"window", [](const ModelShape& s) { return Json(s.window); }},
    {"globalLayers", [](const ModelShape& s) { return Json(s.globalLayers); }},
    {"context", [](const ModelShape& s) { return Json(s.context); }},
    {"kvHeads", [](const ModelShape& s) { return Json(s.kvHeads); }},
    {"innerDim", [](const ModelShape& s) { return Json(s.innerDim); }},
    {"vocabulary", [](const ModelShape& s) { return Json(s.vocabulary); }},
    {"tied", [](const ModelShape& s) { return Json(s.tied); }},
    {"decodes", [](const ModelShape& s) { return Json(s.decodes); }},
    {"notes", [](const ModelShape& s) { return Json(s.notes.size()); }},
    {"firstNote", [](const ModelShape& s) { return Json(s.notes.empty() ? "" : s.notes[0]); }},
    {"perToken", [](const ModelShape& s) { return Json(cacheCost(s, {}).perToken); }},
    {"growth", [](const ModelShape& s) { return Json(bytesAt(s, 2) - bytesAt(s, 1)); }},
    {"feedForwards", [](const ModelShape& s) { return Json(feedForwards(s).at(0).layers); }}};

/// Compares one figure of a row: of those that are no exact ones, "billions" and "active" are parameters with
/// their tolerance, "total" is within a thousandth, "bytes" are pairs of tokens and cache, "note" is the last
/// note, where "…" stands for its rest.
void expectFigure(const std::string& key, const Json& value, const ModelShape& shape) {
  const auto near = [&](std::uint64_t parameters) {
    EXPECT_NEAR(static_cast<double>(parameters) / 1e9, value[0].get<double>(), value[1].get<double>()) << key;
  };
  if (const auto figure = kFigures.find(key); figure != kFigures.end())
    EXPECT_EQ(figure->second(shape), value) << key;
  else if (key == "billions")
    near(parametersOf(shape).total);
  else if (key == "active")
    near(parametersOf(shape).active);
  else if (key == "total")
    EXPECT_NEAR(static_cast<double>(parametersOf(shape).total) / value.get<double>(), 1, 0.001) << key;
  else if (key == "bytes")
    for (const Json& pair : value)
      EXPECT_EQ(bytesAt(shape, pair[0]), pair[1].get<std::uint64_t>()) << key << ", " << pair;
  else if (key == "note")
    EXPECT_THAT(shape.notes.empty() ? "" : shape.notes.back(), Says("", value)) << key;
  else if (key != "base" && key != "config" && key != "quantization")
    ADD_FAILURE() << "unknown figure " << key;
}

void expectRow(const Json& row, const Json& bases) {
  Json config = row.contains("base") ? bases.at(row["base"]) : Json::object();
  if (row.contains("config") && row["config"].is_object()) config.update(row["config"]);
  if (row.contains("config") && !row["config"].is_object()) config = row["config"];
  if (row.contains("quantization")) config["quantization_config"] = row["quantization"];
  SCOPED_TRACE(config.dump());
  const auto shape = readModelShape(config.dump(), "config.json");
  if (row.contains("refused")) {
    EXPECT_THAT(messageOf(shape), Says("config.json: ", row["refused"]));
    return;
  }
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  for (const auto& [key, value] : row.items()) expectFigure(key, value, *shape);
  if (row.contains("perToken")) {
    EXPECT_THAT(shape->notes, Not(Contains(HasSubstr("not read"))));
  }
  if (row.contains("bits") && !row.contains("notes")) {
    EXPECT_THAT(shape->notes, IsEmpty());
  }
}

TEST(ModelShapes, RowsAreCountedOrRefusedAsTheySay) {
  const Json sections =
      Json::parse(headscope::test::fileText(HEADSCOPE_TEST_DIR "/attention/models/model_shapes.json"));
  EXPECT_GT(sections.size(), 1u) << "no rows";
  for (const auto& [name, rows] : sections.items()) {
    EXPECT_FALSE(rows.empty()) << name;
    if (name == "bases") continue;
    SCOPED_TRACE(name);
    for (const Json& row : rows) expectRow(row, sections.at("bases"));
  }
}

TEST(ModelShapeFields, QuantisationCoversWhatItsLibraryCovers) {
  const auto bytes = [](const std::string& more) {
    return weightBytes(
        shapeFrom(R"({"model_type": "llama", "vocab_size": 1024, "hidden_size": 256, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 512,
        "max_position_embeddings": 2048, )" +
                  more + "}"),
        {});
  };
  constexpr std::uint64_t kLayers = 1179648, kTables = 2 * 1024 * 256, kNorms = 5 * 256;
  EXPECT_EQ(bytes(R"("quantization": {"group_size": 64, "bits": 4})"),
            (kLayers + kTables) * 9 / 16 + 2 * kNorms)
      << "MLX: embedding and head as well";
  EXPECT_EQ(bytes(R"("quantization_config": {"quant_method": "hqq"})"),
            kLayers * 9 / 16 + 2 * (kTables + kNorms));
  EXPECT_EQ(bytes(R"("quantization_config": {"quant_method": "exl2", "bits": 4.0, "head_bits": 8})"),
            kLayers / 2 + kTables / 2 + kTables + 2 * kNorms)
      << "the head has bits of its own";
}

TEST(ModelShapeReader, GlobalLayersAreEverySixth) {
  const ModelShape gemma =
      shapeFrom(R"({"model_type": "gemma3_text", "hidden_size": 5376, "num_hidden_layers": 62,
    "num_attention_heads": 32, "sliding_window": 1024})");
  ASSERT_EQ(gemma.order.size(), 62u);
  EXPECT_EQ(gemma.order[5], gemma.order[11]);
  EXPECT_NE(gemma.order[4], gemma.order[5]);
}

TEST(PublishedCounts, NullHeadDimMeansWidthOverHeads) {
  for (const char* type : {R"("minimax", "attn_type_list": [0, 1])", R"("qwen3")", R"("gemma")"}) {
    const auto with = [&](const std::string& headDim) {
      return shapeFrom(R"({"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
        "head_dim": )" +
                       headDim + R"(, "model_type": )" + type + "}");
    };
    EXPECT_EQ(with("null"), with("8")) << type;
  }
}

TEST(PublishedCounts, HeadsOfEncodersDependOnClass) {
  const auto count = [](const std::string& name) {
    return parametersOf(
               shapeFrom(R"({"model_type": "distilbert", "vocab_size": 30522, "n_layers": 6, "n_heads": 12,
      "dim": 768, "hidden_dim": 3072, "max_position_embeddings": 512, "architectures": [")" +
                         name + "\"]}"))
        .total;
  };
  EXPECT_EQ(count("DistilBertForSequenceClassification") - count("DistilBertModel"), 768u * 768);
  EXPECT_EQ(count("DistilBertForQuestionAnswering"), count("DistilBertModel"));
}

TEST(PublishedCounts, HybridsListedByTransformersAreRead) {
  const std::string sizes = R"({"hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2,
    "intermediate_size": 128, "mamba_num_heads": 4, "mamba_head_dim": 16, "model_type": "nemotron_h", )";
  EXPECT_EQ(shapeFrom(sizes + R"("num_hidden_layers": 3, "hybrid_override_pattern": "M-*"})"),
            shapeFrom(sizes + R"("layers_block_type": ["linear_attention", "mlp", "full_attention"]})"));
  const std::string latent = R"({"model_type": "deepseek_v32", "hidden_size": 7168, "num_hidden_layers": 2,
    "num_attention_heads": 128, "q_lora_rank": 1536, "intermediate_size": 18432, "vocab_size": 129280)";
  EXPECT_EQ(
      shapeFrom(latent + R"(, "layer_types": ["deepseek_sparse_attention", "deepseek_sparse_attention"]})"),
      shapeFrom(latent + "}"));
}

/// The message for text that isn't a row of model_shapes.json.
std::string shapeRefusal(std::string_view json) {
  return messageOf(readModelShape(json, "config.json"));
}

TEST(ModelShapeReader, NotesUnknownTypeFirst) {
  const ModelShape read = shapeFrom(R"({"model_type": "foo", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 8})");
  EXPECT_FALSE(read.contextKnown);
  ASSERT_EQ(read.notes.size(), 2u);
  EXPECT_EQ(read.notes[0], "model_type \"foo\" is not known: counted as an ordinary decoder");
  EXPECT_EQ(
      read.notes[1],
      "the file does not say the context length (taken as 2048); the feed-forward width (taken as 256)");
}

TEST(ModelShapeReader, HostileFilesGiveErrorsWithoutOverflow) {
  EXPECT_EQ(shapeRefusal("{"), "config.json: is not valid JSON at byte 2");
  std::string deep = R"({"text_config": )";
  for (int i = 0; i < 10000; ++i) deep += R"({"a": )";
  EXPECT_EQ(shapeRefusal(deep + "1" + std::string(10001, '}')),
            "config.json: lists and objects are more than 32 deep");
  // Impossibly large sizes are counted up to the largest number, without overflow.
  const ModelShape huge =
      shapeFrom(R"({"model_type": "llama", "num_hidden_layers": 4096, "hidden_size": 1048576,
    "num_attention_heads": 1048576, "head_dim": 1048576, "intermediate_size": 1048576, "num_local_experts": 1048576,
    "vocab_size": 1048576})");
  EXPECT_EQ(parametersOf(huge).total, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(weightBytes(huge, {}), std::numeric_limits<std::uint64_t>::max());
}

TEST(ModelShapeReader, AcceptsNumbersThatOnlyPythonWrites) {
  const std::string sizes = R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 8, "vocab_size": 10)";
  EXPECT_EQ(shapeFrom(sizes + R"(, "a": [Infinity, -Infinity,NaN], "b": {"c": "a\" NaN\\"}, "d": NaN})"),
            shapeFrom(sizes + "}"));
  const std::string bamba = R"({"model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128000,
    "attn_layer_indices": null)";
  const ModelShape limited = shapeFrom(bamba + R"(, "time_step_limit": [0.0, Infinity]})");
  EXPECT_EQ(limited, shapeFrom(bamba + "}")) << "its published file holds Infinity";
  EXPECT_NEAR(static_cast<double>(parametersOf(limited).total), 9992765440., 1e7);
  EXPECT_EQ(shapeRefusal(R"({"num_hidden_layers": NaN})"),
            "config.json: num_hidden_layers is NaN, expected a whole number from 1 to 4096");
  EXPECT_EQ(shapeRefusal(R"({"num_hidden_layers": -Infinity})"),
            "config.json: num_hidden_layers is -Infinity, expected a whole number from 1 to 4096");
  EXPECT_EQ(shapeRefusal(R"({"model_type": Infinity})"),
            "config.json: model_type is Infinity, expected a text");
  // Positions are those in the file.
  EXPECT_EQ(shapeRefusal(R"({"a": NaN, "b": Infinit})"), "config.json: is not valid JSON at byte 17");
  EXPECT_EQ(shapeRefusal(R"({"a": Infinity, NaN: 1})"), "config.json: is not valid JSON at byte 17");
  EXPECT_EQ(shapeRefusal(R"({"a": "NaN, "b": Infinity})"), "config.json: is not valid JSON at byte 14");
  EXPECT_EQ(shapeRefusal(R"({"a": -NaN})"), "config.json: is not valid JSON at byte 8");
}

TEST(ModelShapeReader, ShapeIsNamedAfterFolder) {
  const headscope::test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "tiny-model");
  const auto path = folder.path() / "tiny-model" / "config.json";
  std::ofstream(path) << R"({"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8})";
  const auto read = checked(readModelShape(path));
  EXPECT_EQ(read->name, "tiny-model");
  EXPECT_FALSE(readModelShape(folder.path() / "none.json").ok());
}

}  // namespace
}  // namespace headscope::attention::test
