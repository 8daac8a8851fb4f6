#include "attention/models/model_shape_reader.h"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

/// The sizes of the shape that is shipped by that name, from a config.json.
void expectSameAsShipped(const char* name, std::string_view json) {
  SCOPED_TRACE(name);
  const auto read = readModelShape(json, "config.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ModelShape expected = *findShape(modelShapes(), name), found = *read;
  expected.name = found.name = "";
  expected.source = found.source = "";
  EXPECT_EQ(found.layers, expected.layers);
  EXPECT_EQ(found.headDim, expected.headDim);
  EXPECT_EQ(found.kvHeads, expected.kvHeads);
  EXPECT_EQ(found.window, expected.window);
  EXPECT_EQ(found.globalLayers, expected.globalLayers);
  EXPECT_EQ(found.innerDim, expected.innerDim);
  EXPECT_EQ(found.tied, expected.tied);
  EXPECT_EQ(found.context, expected.context);
  EXPECT_EQ(found.vocabulary, expected.vocabulary);
  EXPECT_EQ(found, expected);
}

TEST(ModelShapeReader, readsWhatModelsArePublishedWith) {
  expectSameAsShipped("Llama-3.1-8B", R"({"model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 131072, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256,
    "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192, "rope_type": "llama3"}})");
  expectSameAsShipped("GPT-2", R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
    "n_positions": 1024, "vocab_size": 50257})");
  expectSameAsShipped("Mistral-7B v0.1", R"({"model_type": "mistral", "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 32768, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 32000})");
  expectSameAsShipped("Gemma-2-9B", R"({"model_type": "gemma2", "head_dim": 256, "hidden_size": 3584,
    "intermediate_size": 14336, "max_position_embeddings": 8192, "num_attention_heads": 16,
    "num_hidden_layers": 42, "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 256000,
    "query_pre_attn_scalar": 256})");
  expectSameAsShipped("Gemma-3-27B", R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
    "head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504, "num_attention_heads": 32,
    "num_hidden_layers": 62, "num_key_value_heads": 16, "query_pre_attn_scalar": 168, "sliding_window": 1024,
    "vocab_size": 262144, "max_position_embeddings": 131072}})");
}

TEST(ModelShapeReader, readsMixturesLatentsAndOthersByTheirUsualNames) {
  expectSameAsShipped("Mixtral-8x7B", R"({"model_type": "mixtral", "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 32768, "num_attention_heads": 32,
    "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8, "num_local_experts": 8,
    "sliding_window": null, "tie_word_embeddings": false, "vocab_size": 32000})");
  expectSameAsShipped("DeepSeek-V3", R"({"model_type": "deepseek_v3", "hidden_size": 7168,
    "intermediate_size": 18432, "kv_lora_rank": 512, "max_position_embeddings": 163840,
    "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_attention_heads": 128,
    "num_experts_per_tok": 8, "num_hidden_layers": 61, "num_key_value_heads": 128, "q_lora_rank": 1536,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "vocab_size": 129280,
    "first_k_dense_replace": 3, "quantization_config": {"quant_method": "fp8"}})");
  expectSameAsShipped("Qwen3-235B", R"({"model_type": "qwen3_moe", "head_dim": 128, "hidden_size": 4096,
    "intermediate_size": 12288, "max_position_embeddings": 40960, "moe_intermediate_size": 1536,
    "num_attention_heads": 64, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 94,
    "num_key_value_heads": 4, "sliding_window": null, "use_sliding_window": false, "vocab_size": 151936})");
  const auto star = readModelShape(R"({"model_type": "gpt_bigcode", "multi_query": true, "n_embd": 6144,
    "n_head": 48, "n_inner": 24576, "n_layer": 40, "n_positions": 8192, "vocab_size": 49152})",
                                   "config.json");
  ASSERT_TRUE(star.ok()) << star.error().message;
  EXPECT_EQ(star->kvHeads, 1);
  EXPECT_FALSE(star->gated);
  EXPECT_TRUE(star->tied);
}

std::string shapeRefusal(std::string_view json) {
  const auto read = readModelShape(json, "config.json");
  return read.ok() ? "no error" : read.error().message;
}

TEST(ModelShapeReader, namesWhatAnUnknownArchitectureLacks) {
  EXPECT_EQ(shapeRefusal(R"({"architectures": ["MambaForCausalLM"], "d_model": 768, "n_layer": 24})"),
            "config.json: the architecture \"MambaForCausalLM\" is not known, and it lacks heads "
            "(num_attention_heads, n_head, n_heads or num_heads)");
  EXPECT_EQ(shapeRefusal("{}"),
            "config.json: the architecture without a model_type is not known, and it lacks layers "
            "(num_hidden_layers, n_layer, n_layers or num_layers); the model's size (hidden_size, n_embd or "
            "d_model); heads (num_attention_heads, n_head, n_heads or num_heads)");
  EXPECT_EQ(shapeRefusal("[1]"), "config.json: is a list of 1, expected an object");
  EXPECT_EQ(shapeRefusal("{"), "config.json: is not valid JSON at byte 2");
}

TEST(ModelShapeReader, saysWhatItTookWhereTheFileSaysNothing) {
  const auto read = readModelShape(R"({"model_type": "foo", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 8})",
                                   "config.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_FALSE(read->contextKnown);
  EXPECT_EQ(read->source,
            "config.json, which does not say the longest text (taken as 2048); the feed-forward width (taken "
            "as 256)");
  EXPECT_EQ(shapeRefusal(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 8})"),
            "config.json: it lacks layers (num_hidden_layers, n_layer, n_layers or num_layers)");
}

TEST(ModelShapeReader, aListWhereASizeIsExpectedIsNamed) {
  EXPECT_EQ(shapeRefusal(R"({"model_type": "gemma3n", "text_config": {"model_type": "gemma3n_text",
    "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8, "intermediate_size": [16, 16]}})"),
            "config.json: text_config.intermediate_size is a list of 2, expected a whole number from 0 to "
            "1048576");
}

TEST(ModelShapeReader, namesSizesThatDontFit) {
  const std::string_view sizes = R"("num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8)";
  const auto with = [&](const std::string& more) { return "{" + std::string(sizes) + ", " + more + "}"; };
  EXPECT_EQ(shapeRefusal(with(R"("num_key_value_heads": 3)")),
            "config.json: kv_heads is 3, expected a divisor of the 8 heads");
  EXPECT_EQ(shapeRefusal(with(R"("num_key_value_heads": 0)")),
            "config.json: kv_heads is 0, expected 1 to 2147483648");
  EXPECT_EQ(shapeRefusal(with(R"("num_key_value_heads": -8)")),
            "config.json: num_key_value_heads is -8, expected a whole number from 0 to 1048576");
  EXPECT_EQ(shapeRefusal(with(R"("head_dim": 1e300)")),
            "config.json: head_dim is 1e+300, expected a whole number from 0 to 1048576");
  EXPECT_EQ(shapeRefusal(with(R"("vocab_size": 10)")), "no error");
}

TEST(ModelShapeReader, aFilesFolderNamesTheShape) {
  const headscope::test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "tiny-model");
  const auto path = folder.path() / "tiny-model" / "config.json";
  std::ofstream(path) << R"({"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8})";
  const auto read = readModelShape(path);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->name, "tiny-model");
  EXPECT_FALSE(readModelShape(folder.path() / "none.json").ok());
}

}  // namespace
}  // namespace headscope::attention::test
