#include "attention/models/config/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "attention/models/config/families.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/plain/plain_model.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

std::string goldenConfig(const std::string& family) {
  return headscope::test::fileText(goldenModel(family) / "config.json");
}

/// The golden config with one field set to another JSON value, or removed if `value` is empty.
std::string with(std::string text, const std::string& key, const std::string& value) {
  const std::string name = "\"" + key + "\"";
  if (const auto at = text.find(name); at != std::string::npos) {
    auto end = text.find_first_of(",\n", at);
    for (char closing : {'}', ']'}) {
      const auto open = text.find(closing == '}' ? '{' : '[', at);
      if (open < end) end = text.find(closing, open) + 1;
    }
    text.replace(at, end - at, "\"prefix\": 0");
  }
  return value.empty() ? text : text.insert(text.find('{') + 1, name + ": " + value + ", ");
}

std::string configRefusal(const std::string& config) {
  return messageOf(readModelConfig(config, "config.json"));
}

TEST(ModelConfig, LimitedKeysAreNoLinearMaps) {
  ModelConfig config;
  EXPECT_TRUE(config.checkHeadMaps().ok());
  config.clip = 6.0f;
  EXPECT_EQ(
      config.checkHeadMaps().error().message,
      "This model limits queries, keys and values to ±6, so its heads aren't linear maps of the stream.");
}

TEST(ModelConfig, UnknownFamilySuggestsNearestAndRecording) {
  const std::string llama = goldenConfig("llama"), bert = goldenConfig("bert");
  const std::string of = " is none of the " + std::to_string(familyTable().size()) +
                         " families that Headscope computes.",
                    record = " Its attention can be recorded in Python and shown: see headscope python.";
  EXPECT_EQ(configRefusal(with(llama, "model_type", "\"bailing_hybrid\"")),
            "config.json: model_type \"bailing_hybrid\"" + of +
                " What differs: most of its layers have linear attention." + record);
  EXPECT_EQ(configRefusal(R"({"model_type": "aquila", "hidden_size": 8, "rms_norm_eps": 1e-6, "rope_theta": 1,
                              "num_attention_heads": 2, "mixes": 1})"),
            "config.json: model_type \"aquila\"" + of +
                " The nearest is llama, which knows 4 of its 5 fields." + record);
  EXPECT_EQ(configRefusal(R"({"model_type": "mamba", "state_size": 16, "conv_kernel": 4, "expand": 2})"),
            "config.json: model_type \"mamba\"" + of +
                " What differs: its layers are state spaces and have no attention." + record);
  EXPECT_THAT(configRefusal(R"({"architecture": "vit_base_patch16_224", "num_classes": 1000,
                                "pretrained_cfg": {"tag": "augreg_in21k"}})"),
              testing::HasSubstr("It is a model of timm"));
  EXPECT_EQ(configRefusal(R"({"architectures": ["MambaForCausalLM"]})"),
            "config.json: architectures \"MambaForCausalLM\"" + of + record);
  EXPECT_EQ(configRefusal("{}"), "config.json: model_type is absent, expected one of the " +
                                     std::to_string(familyTable().size()) +
                                     " families that Headscope computes." + record);
}

TEST(ModelConfig, RefusesImpossibleGptNeoxHeadSize) {
  const std::string text = goldenConfig("gpt_neox");
  const Index size = readModelConfig(text, "config.json")->headDim;
  EXPECT_EQ(configRefusal(with(text, "head_dim", std::to_string(size))), "no error");
  EXPECT_EQ(configRefusal(with(text, "head_dim", std::to_string(size * 2))),
            "config.json: head_dim is " + std::to_string(size * 2) + ", expected " + std::to_string(size) +
                ", hidden_size over num_attention_heads");
}

TEST(ModelConfig, RefusesImpossibleSizes) {
  const std::string llama = goldenConfig("llama");
  for (const char* value : {"-32", "0", "32.5", "1e999", "99999999999999999999", "true", "[32]", "1048577"})
    EXPECT_NE(configRefusal(with(llama, "hidden_size", value)), "no error") << value;
}

TEST(ModelConfig, RefusesInvalidConfigs) {
  EXPECT_EQ(configRefusal("{}").substr(0, 50), "config.json: model_type is absent, expected one of");
  EXPECT_EQ(configRefusal("{\"architectures\": [\"T5ForConditionalGeneration\"]}").substr(0, 70),
            "config.json: architectures \"T5ForConditionalGeneration\" is none of the");
  EXPECT_EQ(configRefusal(std::string(200000, '[')), "config.json: lists and objects are more than 32 deep");
}

TEST(ModelConfig, ArchitecturesNameFamilyIfModelTypeIsAbsent) {
  for (const std::string& family : kGoldenFamilies) {
    const auto config = checked(readModelConfig(with(goldenConfig(family), "model_type", ""), "config.json"));
    EXPECT_EQ(config->family->name, family);
  }
}

TEST(ModelConfig, ReadsOneOrSeveralEndTokens) {
  const std::string llama = goldenConfig("llama");
  EXPECT_EQ(readModelConfig(llama, "")->endTokens, std::vector<Index>{298});
  EXPECT_EQ(readModelConfig(with(llama, "eos_token_id", "[7, 8]"), "")->endTokens,
            (std::vector<Index>{7, 8}));
  EXPECT_EQ(readModelConfig(with(llama, "eos_token_id", "null"), "")->endTokens, std::vector<Index>{});
  EXPECT_EQ(readModelConfig(R"({"model_type": "llava", "text_config": )" + goldenConfig("llama") + "}", "")
                ->endTokens,
            std::vector<Index>{298});
}

ModelConfig configFrom(const std::string& text) {
  return *checked(readModelConfig(text, "config.json"));
}

TEST(ModelConfig, ErnieHasExpertsUpToTheLastLayer) {
  EXPECT_TRUE(configFrom(R"({"model_type": "ernie4_5_moe", "hidden_size": 8, "intermediate_size": 8,
                             "vocab_size": 9, "num_attention_heads": 4, "num_hidden_layers": 30})")
                  .layers[29]
                  .mixture);
}

TEST(ModelConfig, AcceptsValuesThatMeanUnset) {
  const std::string llama = goldenConfig("llama");
  EXPECT_EQ(configFrom(with(llama, "eos_token_id", "-1")).endTokens, std::vector<Index>{});
  EXPECT_EQ(configFrom(with(llama, "eos_token_id", "[-1, 4]")).endTokens, std::vector<Index>{4});
  EXPECT_THAT(configRefusal(with(llama, "eos_token_id", "-2")), testing::HasSubstr("eos_token_id is -2"));
  EXPECT_EQ(configFrom(with(llama, "num_experts", "0")), configFrom(llama));
  EXPECT_EQ(configFrom(with(goldenConfig("mistral"), "num_key_value_heads", "null")).kvHeads, 4)
      << "null is one for each head";
  EXPECT_EQ(
      configFrom(with(with(goldenConfig("mistral"), "num_key_value_heads", ""), "num_attention_heads", "8"))
          .kvHeads,
      8)
      << "absent is MistralConfig's own";
}

TEST(ModelConfig, NullWindowIsCausalOrRefused) {
  const std::string qwen2 = with(goldenConfig("qwen2"), "use_sliding_window", "true");
  EXPECT_EQ(configFrom(qwen2).maskText(2), "window(8)");
  EXPECT_EQ(configFrom(with(qwen2, "sliding_window", "null")).maskText(2), "causal");
}

TEST(ModelConfig, RopeScalingOverridesRopeParameters) {
  const std::string both =
      with(with(goldenConfig("qwen2"), "rope_parameters", R"({"rope_type": "default", "rope_theta": 5000})"),
           "rope_scaling", R"({"rope_type": "linear", "factor": 2})");
  const ModelConfig config = configFrom(both);
  EXPECT_EQ(config.rotations, configFrom(with(both, "rope_parameters", "null")).rotations);
  EXPECT_DOUBLE_EQ(config.rotations[0].frequencies[1], std::pow(1e6, -0.25) / 2);
  ASSERT_EQ(config.notes.size(), 1u);
  EXPECT_THAT(config.notes[0], testing::HasSubstr("rope_scaling counts"));
}

TEST(ModelConfig, StatedStretchCounts) {
  const std::string llama = goldenConfig("llama");  // 256 positions
  const auto stretched = [&](const std::string& type, const std::string& more) {
    return configFrom(with(llama, "rope_scaling", R"({"rope_type": ")" + type + "\", " + more + "}"));
  };
  // As the cards of Qwen 2.5 and 3 have it: the context length isn't raised.
  const ModelConfig card = stretched("yarn", R"("factor": 4.0, "original_max_position_embeddings": 256)");
  EXPECT_NEAR(card.rotations[0].amplitude, 1 + 0.1 * std::log(4), 1e-9);
  EXPECT_TRUE(card.notes.empty());
  EXPECT_EQ(stretched("yarn", R"("factor": 4.0)").rotations, card.rotations);
  const ModelConfig other = stretched("yarn", R"("factor": 3.0, "original_max_position_embeddings": 64)");
  EXPECT_NEAR(other.rotations[0].amplitude, 1 + 0.1 * std::log(3), 1e-9);
  ASSERT_EQ(other.notes.size(), 1u);
  EXPECT_EQ(other.notes[0],
            "config.json's rope_scaling.factor is 3, and max_position_embeddings over "
            "original_max_position_embeddings is 4: the factor counts, as in transformers.");
  const ModelConfig longrope = stretched("longrope", R"("factor": 3.0, "original_max_position_embeddings": 64,
    "short_factor": [1, 1, 1, 1], "long_factor": [2, 2, 2, 2])");
  EXPECT_NEAR(longrope.rotations[0].amplitude, std::sqrt(1 + std::log(3) / std::log(64)), 1e-9);
  EXPECT_EQ(longrope.notes.size(), 1u);
  const std::string zero = R"("factor": 4.0, "mscale": 0.707, "mscale_all_dim": 0)";
  EXPECT_EQ(stretched("yarn", zero).rotations, card.rotations) << "0 counts as absent";
}

TEST(ModelConfig, OriginalLengthAtTheTopLevelIsPhi3s) {
  const std::string scaled =
      with(goldenConfig("llama"), "rope_scaling", R"({"rope_type": "yarn", "factor": 2})");
  EXPECT_EQ(configFrom(with(scaled, "original_max_position_embeddings", "64")).rotations,
            configFrom(scaled).rotations);
}

TEST(ModelConfig, DynamicRotationsSlowDownWithTheText) {
  const ModelConfig config =
      configFrom(with(goldenConfig("llama"), "rope_scaling", R"({"rope_type": "dynamic", "factor": 2.0})"));
  const Rotation& rotation = config.rotations[0];
  const Index most = config.maxPositions;
  EXPECT_EQ(rotation.frequenciesFor(most), rotation.frequencies);
  EXPECT_LT(rotation.frequenciesFor(2 * most)[1], rotation.frequencies[1]);
  EXPECT_FALSE(rotation.changes(1, most));
  EXPECT_TRUE(rotation.changes(most, most + 1));
  EXPECT_TRUE(rotation.changes(most + 1, most + 2));
}

/// What a file leaves out is as in the family's class of transformers.
TEST(ModelConfig, MissingFieldsAreTheClasss) {
  const auto read = [](const std::string& type, const std::string& more) {
    return configFrom(R"({"model_type": ")" + type +
                      R"(", "hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2,
                          "num_key_value_heads": 2, "num_hidden_layers": 4, "vocab_size": 50)" +
                      more + "}");
  };
  EXPECT_TRUE(read("glm", "").qkvBias);
  EXPECT_TRUE(read("glm4", "").qkvBias);
  EXPECT_TRUE(read("seed_oss", "").qkvBias);
  EXPECT_DOUBLE_EQ(read("cohere", "").rotations[0].frequencies[1], std::pow(5e5, -2.0 / 8));
  EXPECT_DOUBLE_EQ(read("cohere2", "").rotations[0].frequencies[1], std::pow(1e4, -2.0 / 8));
  EXPECT_EQ(read("gpt_oss", R"(, "head_dim": 8)").rotations[0].amplitude, 1 + 0.1 * std::log(32.0));
  const std::string window = R"(, "use_sliding_window": true, "sliding_window": 4)";
  const std::tuple<const char*, std::string, std::vector<std::string>> windows[] = {
      {"qwen2", window + R"(, "max_window_layers": 1)", {"causal", "window(4)", "window(4)", "window(4)"}},
      {"qwen2_moe", window, {"window(4)", "causal", "window(4)", "causal"}},
      {"qwen2_moe", window + R"(, "max_window_layers": 1)", {"window(4)", "causal", "causal", "causal"}},
      {"qwen3_moe", window, {"window(4)", "window(4)", "window(4)", "window(4)"}},
      {"smollm3", window, {"causal", "causal", "causal", "window(4)"}},
      {"smollm3", R"(, "sliding_window": 4)", {"causal", "causal", "causal", "causal"}}};
  for (const auto& [type, more, masks] : windows)
    for (Index layer = 0; layer < 4; ++layer)
      EXPECT_EQ(read(type, more).maskText(layer), masks[static_cast<std::size_t>(layer)])
          << type << more << " " << layer;
  const ModelConfig mt5 = configFrom(R"({"model_type": "mt5", "d_model": 16, "vocab_size": 50})");
  EXPECT_EQ(mt5.layerCount(), 8);
  EXPECT_EQ(mt5.heads, 6);
  EXPECT_EQ(mt5.innerDim, 1024);
  EXPECT_TRUE(mt5.tied);
}

TEST(ModelConfig, FieldsThatTransformersIgnoresChangeNothing) {
  const std::string whisper =
      R"({"model_type": "whisper", "d_model": 16, "decoder_layers": 2, "vocab_size": 60000,
    "decoder_attention_heads": 2, "decoder_ffn_dim": 24)";
  EXPECT_EQ(configFrom(whisper + R"(, "scale_embedding": true})").embeddingScale, 1);
  const std::string mt5 = R"({"model_type": "mt5", "d_model": 16, "vocab_size": 50)";
  const ModelConfig scaled = configFrom(mt5 + R"(, "scale_decoder_outputs": true})");
  EXPECT_EQ(scaled.logitScale, 1);
  ASSERT_EQ(scaled.notes.size(), 1u);
  EXPECT_THAT(scaled.notes[0], testing::HasSubstr("scale_decoder_outputs is ignored"));
}

TEST(ModelConfig, GptNeoExpandsItsAttentionTypes) {
  const auto neo = [](const std::string& more) {
    return R"({"model_type": "gpt_neo", "vocab_size": 31, "hidden_size": 24, "num_heads": 4, "num_layers": 3,
               "window_size": 4)" +
           more + "}";
  };
  const auto masks = [&](const std::string& more) {
    const ModelConfig config = configFrom(neo(more));
    return config.maskText(0) + " " + config.maskText(1) + " " + config.maskText(2);
  };
  EXPECT_EQ(masks(""), "causal window(4) causal");
  EXPECT_EQ(masks(R"(, "attention_types": [[["global"], 3]])"), "causal causal causal");
  EXPECT_EQ(masks(R"(, "attention_types": [[["local"], 1], [["global", "local"], 1]])"),
            "window(4) causal window(4)");
  for (const auto& [types, expected] :
       {std::pair(R"([[["global"], 2]])", "is a list for 2 layers, expected one for each of the 3 layers"),
        std::pair(R"([[["global"], 4000]])", "is a list for 4 layers"),
        std::pair(R"([[["sparse"], 3]])", "is \"sparse\", expected global or local"),
        std::pair(R"(["global"])", "expected a list of lists, each with texts and how often they repeat")})
    EXPECT_THAT(configRefusal(neo(std::string(R"(, "attention_types": )") + types)),
                testing::HasSubstr(expected));
}

TEST(ModelConfig, OtherNamesOfTheSameClassesOpen) {
  EXPECT_EQ(configFrom(with(goldenConfig("gpt2"), "model_type", "\"gpt-sw3\"")).family, &families::gpt2);
}

TEST(ModelConfig, PartialRotationIsRefusedWhereTransformersIgnoresIt) {
  EXPECT_EQ(configFrom(with(goldenConfig("llama"), "partial_rotary_factor", "1.0")).rotations[0].dims, 8);
  EXPECT_EQ(configFrom(with(goldenConfig("phi3"), "partial_rotary_factor", "0.7")).rotations[0].dims, 4);
}

TEST(ModelConfig, ReadsWhatTransformers5Writes) {
  const std::string moe = R"({"hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 2,
    "num_key_value_heads": 2, "num_hidden_layers": 2, "vocab_size": 50, "use_sliding_window": false)";
  // A window that is off has no size.
  const ModelConfig qwen2 = configFrom(moe + R"(, "sliding_window": 0, "model_type": "qwen2_moe"})");
  EXPECT_EQ(qwen2.maskText(1), "causal");
  const std::string qwen3 = moe + R"(, "model_type": "qwen3_moe", "num_local_experts": 6)";
  EXPECT_EQ(configFrom(qwen3 + "}").mixture.experts, 6);
  const std::string mt5 = R"({"model_type": "mt5", "d_model": 16, "d_kv": 4, "num_heads": 2, "vocab_size": 50,
    "tie_word_embeddings": true, "transformers_version": )";
  EXPECT_EQ(configFrom(mt5 + R"("5.17.0"})").logitScale, 1);
  EXPECT_EQ(configFrom(mt5 + R"("4.57.1"})").logitScale, 1);
}

TEST(ModelConfig, MissingLengthFallsBackToFamilyDefault) {
  const std::pair<const char*, Index> lengths[] = {{"llama", 2048},   {"mistral", 131072}, {"qwen2", 32768},
                                                   {"qwen3", 32768},  {"gemma2", 8192},    {"phi3", 4096},
                                                   {"gpt_neox", 2048}};
  for (const auto& [family, length] : lengths)
    EXPECT_EQ(configFrom(with(goldenConfig(family), "max_position_embeddings", "")).maxPositions, length)
        << family;
}

TEST(ModelConfig, NotesBidirectionalDecoder) {
  for (const char* field : {"use_bidirectional_attention", "is_causal"}) {
    const bool own = std::string(field) == "use_bidirectional_attention";
    const ModelConfig config = configFrom(with(goldenConfig("gemma2"), field, own ? "true" : "false"));
    EXPECT_FALSE(config.causal);
    EXPECT_TRUE(config.isBidirectionalDecoder());
    EXPECT_EQ(config.maskText(0), own ? "window_both(10)" : "window_both(11)");
    EXPECT_EQ(config.maskText(1), "full");
    ASSERT_EQ(config.notes.size(), 1u);
    EXPECT_THAT(config.notes[0], testing::HasSubstr("bidirectional"));
  }
  EXPECT_FALSE(configFrom(goldenConfig("bert")).isBidirectionalDecoder()) << "an encoder does by design";
}

TEST(ModelConfig, MaskTextNamesWindowCausalOrFull) {
  const auto gemma = readModelConfig(goldenConfig("gemma2"), "");
  EXPECT_EQ(gemma->maskText(0), "window(10)");
  EXPECT_EQ(gemma->maskText(1), "causal");
  EXPECT_EQ(readModelConfig(goldenConfig("qwen2"), "")->maskText(2), "causal");
  EXPECT_EQ(readModelConfig(goldenConfig("bert"), "")->maskText(0), "full");
}

}  // namespace
}  // namespace headscope::attention::test
