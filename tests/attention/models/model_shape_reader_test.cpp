#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "attention/cache/model_cost.h"
#include "attention/models/config/model_catalogue.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {
namespace {

ModelShape shapeFrom(std::string_view json) {
  auto read = readModelShape(json, "config.json");
  if (!read) throw std::runtime_error(read.error().message);
  return *std::move(read);
}

double billions(const ModelShape& shape) {
  return static_cast<double>(parametersOf(shape).total) / 1e9;
}

/// "12 full, 36 chunk".
std::string kindsOf(const ModelShape& shape) {
  std::string text;
  for (const LayerGroup& group : layerGroups(shape))
    text += (text.empty() ? "" : ", ") + std::to_string(group.layers) + " " +
            std::string(kCacheKindNames[static_cast<std::size_t>(group.kind)]);
  return text;
}

std::uint64_t bytesAt(const ModelShape& shape, Index tokens) {
  return cacheBytes(shape, tokens, 1, NumberFormat::bf16);
}

constexpr std::uint64_t kKiB = 1024, kGiB = kKiB * kKiB * kKiB;

TEST(ModelShapeReader, ReadsSizesByTheirUsualNames) {
  const ModelShape llama = shapeFrom(R"({"model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 14336, "max_position_embeddings": 131072, "num_attention_heads": 32,
    "num_hidden_layers": 32, "num_key_value_heads": 8, "tie_word_embeddings": false, "vocab_size": 128256})");
  EXPECT_EQ(bytesAt(llama, 1), 131072u);
  EXPECT_EQ(llama.context, 131072);
  EXPECT_NEAR(billions(llama), 8.0303, 0.004);
  EXPECT_TRUE(llama.notes.empty());
  const ModelShape gemma = shapeFrom(R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
    "head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504, "num_attention_heads": 32,
    "num_hidden_layers": 62, "num_key_value_heads": 16, "query_pre_attn_scalar": 168, "sliding_window": 1024,
    "vocab_size": 262144, "max_position_embeddings": 131072}, "vision_config": {}})");
  EXPECT_EQ(kindsOf(gemma), "52 window, 10 full");
  EXPECT_EQ(gemma.window, 1024);
  EXPECT_EQ(gemma.globalLayers, 10);
  EXPECT_EQ(gemma.order.size(), 62u);
  EXPECT_EQ(gemma.order[5], gemma.order[11]);
  EXPECT_NE(gemma.order[4], gemma.order[5]);
  EXPECT_EQ(gemma.notes, std::vector<std::string>{"only the text model is counted, without vision"});
  EXPECT_EQ(shapeFrom(R"({"model_type": "mistral", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 8, "sliding_window": null})")
                .window,
            0);
}

TEST(ModelShapeReader, CountsOnlyCachedKvHeads) {
  // Falcon-7B: 71 heads, "num_kv_heads" 71, but one kv head in the cache.
  const ModelShape falcon =
      shapeFrom(R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
    "num_attention_heads": 71, "num_kv_heads": 71, "multi_query": true, "new_decoder_architecture": false,
    "vocab_size": 65024})");
  EXPECT_EQ(falcon.kvHeads, 1);
  EXPECT_EQ(bytesAt(falcon, 1), 2u * 32 * 64 * 2);
  EXPECT_TRUE(falcon.tied);
  const ModelShape dbrx = shapeFrom(R"({"model_type": "dbrx", "d_model": 6144, "n_layers": 40, "n_heads": 48,
    "max_seq_len": 32768, "vocab_size": 100352, "attn_config": {"kv_n_heads": 8},
    "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})");
  EXPECT_EQ(dbrx.kvHeads, 8);
  EXPECT_NEAR(billions(dbrx), 131.6, 0.5);
  EXPECT_NEAR(static_cast<double>(parametersOf(dbrx).active) / 1e9, 36.5, 0.5);
}

TEST(ModelShapeReader, WindowsAndChunksLimitCache) {
  // Command-R7B has layer_switch: every 4th layer keeps all tokens.
  const ModelShape command =
      shapeFrom(R"({"model_type": "cohere2", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 14336,
    "sliding_window": 4096, "layer_switch": 4, "max_position_embeddings": 132096, "vocab_size": 256000})");
  EXPECT_EQ(kindsOf(command), "24 window, 8 full");
  EXPECT_EQ(bytesAt(command, 131072), kGiB * 35 / 8) << "4.375 GiB";
  EXPECT_NEAR(billions(command), 8.028, 0.02);
  const std::string scout = R"({"model_type": "llama4_text", "hidden_size": 5120, "num_hidden_layers": 48,
    "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192,
    "intermediate_size_mlp": 16384, "num_local_experts": 16, "num_experts_per_tok": 1, "attention_chunk_size": 8192,
    "max_position_embeddings": 10485760, "vocab_size": 202048})";
  EXPECT_EQ(kindsOf(shapeFrom(scout)), "36 chunk, 12 full");
  EXPECT_EQ(bytesAt(shapeFrom(scout), 32768), kGiB * 21 / 8) << "2.625 GiB";
  EXPECT_NEAR(static_cast<double>(parametersOf(shapeFrom(scout)).active) / 1e9, 17.2, 0.2);
  EXPECT_EQ(kindsOf(shapeFrom(R"({"model_type": "gpt_oss", "hidden_size": 64, "num_hidden_layers": 4,
    "num_attention_heads": 8, "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
    "full_attention"], "intermediate_size": 64})")),
            "2 window, 2 full");
  EXPECT_EQ(kindsOf(shapeFrom(R"({"model_type": "exaone4", "hidden_size": 64, "num_hidden_layers": 8,
    "num_attention_heads": 8, "sliding_window": 4, "sliding_window_pattern": "LLLG"})")),
            "6 window, 2 full");
  EXPECT_EQ(kindsOf(shapeFrom(R"({"model_type": "qwen2", "hidden_size": 64, "num_hidden_layers": 8,
    "num_attention_heads": 8, "sliding_window": 4, "use_sliding_window": false, "max_window_layers": 4})")),
            "8 full");
}

TEST(ModelShapeReader, RecurrentStatesDoNotGrow) {
  const ModelShape jamba = shapeFrom(R"({"model_type": "jamba", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "num_experts": 16,
    "num_experts_per_tok": 2, "attn_layer_period": 8, "attn_layer_offset": 4, "expert_layer_period": 2,
    "expert_layer_offset": 1, "mamba_dt_rank": 256, "vocab_size": 65536})");
  EXPECT_EQ(kindsOf(jamba), "28 recurrent, 4 full");
  EXPECT_EQ(bytesAt(jamba, 2) - bytesAt(jamba, 1), 4u * 4096) << "of 4 layers, not of 32";
  EXPECT_NEAR(billions(jamba), 51.57, 0.1);
  const ModelShape next =
      shapeFrom(R"({"model_type": "qwen3_next", "hidden_size": 2048, "num_hidden_layers": 48,
    "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "full_attention_interval": 4,
    "intermediate_size": 5120, "num_experts": 512, "num_experts_per_tok": 10, "vocab_size": 151936})");
  EXPECT_EQ(kindsOf(next), "36 recurrent, 12 full");
  EXPECT_EQ(bytesAt(next, 2) - bytesAt(next, 1), 12u * 2 * 2 * 256 * 2);
  const ModelShape seen = shapeFrom(R"({"model_type": "qwen3_5_moe", "vision_config": {}, "text_config": {
    "model_type": "qwen3_5_moe_text", "hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 16,
    "num_key_value_heads": 2, "vocab_size": 248320, "mamba_ssm_dtype": "float32"}})");
  EXPECT_EQ(kindsOf(seen), "30 recurrent, 10 full");
  EXPECT_EQ(bytesAt(seen, 1), 10u * 2 * 2 * 256 * 2 + 30u * 4 * (32 * 128 * 128 + 4 * 8192));
  const ModelShape mamba = shapeFrom(R"({"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64,
    "num_heads": 128, "head_dim": 64, "state_size": 128, "n_groups": 8, "vocab_size": 32768})");
  EXPECT_EQ(bytesAt(mamba, 1), bytesAt(mamba, 1 << 20)) << "nothing grows";
  EXPECT_EQ(bytesAt(mamba, 1), 64u * 2 * (128 * 64 * 128 + 4 * (8192 + 2 * 8 * 128)));
  EXPECT_NEAR(billions(mamba), 7.2854, 0.03);
  const ModelShape nemotron =
      shapeFrom(R"({"model_type": "nemotron_h", "hidden_size": 64, "num_hidden_layers": 5,
    "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 128, "mamba_num_heads": 4,
    "mamba_head_dim": 16, "hybrid_override_pattern": "M-M*-"})");
  EXPECT_EQ(kindsOf(nemotron), "2 recurrent, 2 none, 1 full");
  EXPECT_EQ(feedForwards(nemotron)[0].layers, 2);
  const ModelShape rwkv = shapeFrom(R"({"model_type": "rwkv", "hidden_size": 2560, "num_hidden_layers": 32,
    "intermediate_size": 10240, "context_length": 1024, "vocab_size": 50277})");
  EXPECT_EQ(bytesAt(rwkv, 1000), 32u * 5 * 2560 * 4);
  EXPECT_NEAR(billions(rwkv), 2.985, 0.015);
}

TEST(ModelShapeReader, CountsEncodersAndDecodersSeparately) {
  const ModelShape t5 =
      shapeFrom(R"({"model_type": "t5", "d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6,
    "num_heads": 8, "vocab_size": 32128, "n_positions": 512})");
  EXPECT_EQ(kindsOf(t5), "6 full, 6 cross, 6 none");
  EXPECT_NEAR(billions(t5), 0.0605, 0.0003);
  const ModelShape whisper = shapeFrom(R"({"model_type": "whisper", "d_model": 1280, "encoder_layers": 32,
    "decoder_layers": 32, "encoder_attention_heads": 20, "decoder_attention_heads": 20, "encoder_ffn_dim": 5120,
    "decoder_ffn_dim": 5120, "vocab_size": 51866, "max_target_positions": 448, "num_mel_bins": 128})");
  EXPECT_EQ(bytesAt(whisper, 448), 32u * 2 * 1280 * 2 * (448 + 1500)) << "1,500 frames, written once";
  EXPECT_NEAR(billions(whisper), 1.5435, 0.007);
  const ModelShape bert = shapeFrom(R"({"model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
    "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522, "max_position_embeddings": 512})");
  EXPECT_EQ(bytesAt(bert, 512), 0u);
  const ModelShape vit = shapeFrom(R"({"model_type": "vit", "hidden_size": 768, "num_hidden_layers": 12,
    "num_attention_heads": 12, "intermediate_size": 3072, "image_size": 224, "patch_size": 16})");
  EXPECT_EQ(bytesAt(vit, 197), 0u);
  EXPECT_NEAR(billions(vit), 0.0864, 0.0006);
}

TEST(ModelShapeReader, ReadsTrueFeedForwardWidths) {
  EXPECT_NEAR(billions(shapeFrom(R"({"model_type": "qwen", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "intermediate_size": 22016, "vocab_size": 151936})")),
              7.7213, 0.03);
  EXPECT_NEAR(billions(shapeFrom(R"({"model_type": "openai-gpt", "n_embd": 768, "n_layer": 12, "n_head": 12,
    "n_positions": 512, "vocab_size": 40478})")),
              0.11653, 0.0006);
  EXPECT_NEAR(
      billions(shapeFrom(R"({"model_type": "ernie4_5_moe", "hidden_size": 2560, "num_hidden_layers": 28,
    "num_attention_heads": 20, "num_key_value_heads": 4, "intermediate_size": 12288, "moe_intermediate_size": 1536,
    "moe_num_experts": 64, "moe_k": 6, "vocab_size": 103424})")),
      21.825, 0.1);
  const ModelShape moe =
      shapeFrom(R"({"model_type": "qwen2_moe", "hidden_size": 2048, "num_hidden_layers": 24,
    "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 5632, "moe_intermediate_size": 1408,
    "shared_expert_intermediate_size": 5632, "num_experts": 60, "num_experts_per_tok": 4, "vocab_size": 151936})");
  EXPECT_NEAR(billions(moe), 14.316, 0.06) << "with its shared expert";
  EXPECT_NEAR(static_cast<double>(parametersOf(moe).active) / 1e9, 2.69, 0.02);
  for (const char* type : {"cohere2", "gpt_neo", "starcoder2", "mpt", "falcon", "gemma2"})
    EXPECT_TRUE(shapeFrom(R"({"model_type": ")" + std::string(type) + R"(", "hidden_size": 64,
      "num_hidden_layers": 2, "num_attention_heads": 8, "intermediate_size": 8, "vocab_size": 10})")
                    .tied)
        << type;
}

TEST(ModelShapeReader, CachesLatentsAndTheirIndex) {
  const std::string sizes = R"("hidden_size": 7168, "num_hidden_layers": 61, "num_attention_heads": 128,
    "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64, "intermediate_size": 18432,
    "moe_intermediate_size": 2048, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "vocab_size": 129280})";
  const ModelShape v3 = shapeFrom(R"({"model_type": "deepseek_v3", )" + sizes);
  EXPECT_EQ(bytesAt(v3, 1), 70272u);
  EXPECT_NEAR(billions(v3), 671.03, 1);
  EXPECT_EQ(bytesAt(shapeFrom(R"({"model_type": "deepseek_v32", "index_topk": 2048, )" + sizes), 1),
            70272u + 61 * 128 * 2);
}

TEST(ModelShapeReader, ReadsWeightFormats) {
  const auto with = [](const std::string& more) {
    return shapeFrom(
        R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
      "vocab_size": 100, )" +
        more + "}");
  };
  EXPECT_EQ(with(R"("torch_dtype": "float16")").weights.name, "fp16");
  const ModelShape awq =
      with(R"("quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 64})");
  EXPECT_EQ(awq.weights.name, "awq");
  EXPECT_DOUBLE_EQ(awq.weights.bits, 4 + 20.0 / 64);
  const ModelShape odd = with(R"("quantization_config": {"quant_method": "odd"})");
  ASSERT_EQ(odd.notes.size(), 2u);
  EXPECT_EQ(odd.notes[1], "its quantization_config (\"odd\") is not known: weights are counted in bf16");
}

std::string shapeRefusal(std::string_view json) {
  const auto read = readModelShape(json, "config.json");
  return read.ok() ? "no error" : read.error().message;
}

TEST(ModelShapeReader, UnknownArchitectureReportsMissingFields) {
  EXPECT_EQ(shapeRefusal(R"({"architectures": ["OddForCausalLM"], "d_model": 768, "n_layer": 24})"),
            "config.json: the architecture \"OddForCausalLM\" is not known, and it lacks heads "
            "(decoder_attention_heads, num_attention_heads, n_head, n_heads, num_heads or attention_heads)");
  EXPECT_EQ(shapeRefusal("[1]"), "config.json: is a list of 1, expected an object");
  EXPECT_EQ(shapeRefusal("{"), "config.json: is not valid JSON at byte 2");
  EXPECT_EQ(shapeRefusal(R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 8})"),
            "config.json: it lacks layers (num_decoder_layers, decoder_layers, num_hidden_layers, n_layer, "
            "n_layers or "
            "num_layers)");
}

TEST(ModelShapeReader, UncountableLayersReportTheField) {
  const std::string sizes = R"("num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8)";
  EXPECT_EQ(shapeRefusal(R"({"model_type": "zamba", "mamba_d_state": 64, )" + sizes + "}"),
            "config.json: mamba_d_state belongs to layers of model_type \"zamba\" that Headscope doesn't "
            "know, so their cache can't be counted");
  EXPECT_EQ(
      shapeRefusal(R"({"model_type": "llama", "layer_types": ["full_attention", "odd"], )" + sizes + "}"),
      "config.json: layer_types is \"odd\", expected full_attention, sliding_attention, chunked_attention, "
      "linear_attention, mamba, conv, recurrent or attention");
  EXPECT_EQ(shapeRefusal(R"({"model_type": "llama", "layer_types": ["full_attention"], )" + sizes + "}"),
            "config.json: layer_types is a list of 1, expected a name for each of the 2 layers");
  EXPECT_EQ(
      shapeRefusal(R"({"model_type": "llama", "layer_types": ["full_attention", "mamba"], )" + sizes + "}"),
      "config.json: layer_types has recurrent layers, whose state in model_type \"llama\" is not "
      "known");
  EXPECT_EQ(
      shapeRefusal(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M?", "mamba_num_heads": 4, )" +
                   sizes + "}"),
      "config.json: hybrid_override_pattern is \"M?\", expected one of M, *, - and E for each of the 2 "
      "layers");
}

TEST(ModelShapeReader, RefusesCompressedAndHalvedCaches) {
  const std::string sizes = R"("num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8)";
  for (const char* field : {R"("compress_ratios": [0, 4])", R"("attention_k_eq_v": true)"})
    EXPECT_NE(shapeRefusal(R"({"model_type": "foo", )" + std::string(field) + ", " + sizes + "}")
                  .find("can't be counted"),
              std::string::npos)
        << field;
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
  EXPECT_EQ(
      shapeRefusal(R"({"num_hidden_layers": 1000000000000, "hidden_size": 64, "num_attention_heads": 8})"),
      "config.json: num_hidden_layers is 1000000000000, expected a whole number from 1 to 4096");
  std::string deep = R"({"text_config": )";
  for (int i = 0; i < 10000; ++i) deep += R"({"a": )";
  EXPECT_EQ(shapeRefusal(deep + "1" + std::string(10001, '}')),
            "config.json: lists and objects are more than 32 deep");
  EXPECT_EQ(shapeRefusal(
                R"({"attn_config": 3, "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8})"),
            "config.json: attn_config is 3, expected an object");
  EXPECT_EQ(shapeRefusal(R"({"model_type": "jamba", "attn_layer_period": 0, "num_hidden_layers": 2,
    "hidden_size": 64, "num_attention_heads": 8})"),
            "config.json: attn_layer_period is 0, expected a whole number from 1 to 1048576");
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

TEST(ModelShapeReader, RefusesInconsistentSizes) {
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
  EXPECT_EQ(shapeRefusal(with(R"("intermediate_size": [16, 32])")),
            "config.json: intermediate_size is a list of 2 that differ, expected one width for all layers");
  EXPECT_EQ(shapeRefusal(with(R"("vocab_size": 10)")), "no error");
}

TEST(ModelShapeReader, ShapeIsNamedAfterFolder) {
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
