#include <gtest/gtest.h>

#include <stdexcept>

#include "attention/cache/model_cost.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::attention::test {
namespace {

ModelShape shapeWith(std::string_view json) {
  auto read = readModelShape(json, "config.json");
  if (!read) throw std::runtime_error(read.error().message);
  return *std::move(read);
}

double billionsOf(const ModelShape& shape) {
  return static_cast<double>(parametersOf(shape).total) / 1e9;
}

/// "12 full, 36 chunk".
std::string groupsOf(const ModelShape& shape) {
  std::string text;
  for (const LayerGroup& group : layerGroups(shape))
    text += (text.empty() ? "" : ", ") + std::to_string(group.layers) + " " +
            std::string(kCacheKindNames[static_cast<std::size_t>(group.kind)]);
  return text;
}

std::uint64_t cachedAt(const ModelShape& shape, Index tokens) {
  return cacheBytes(shape, tokens, 1, NumberFormat::bf16);
}

/// What each library stores for a weight, from its own documentation: bits with scales and zeros.
TEST(ModelShapeFields, CountsBitsOfEachQuantisation) {
  const struct {
    const char* quantization;
    double bits;
  } kCases[] = {
      {R"("quant_method": "gptq", "bits": 8, "group_size": -1)", 8},
      {R"("quant_method": "gptq", "bits": 3, "group_size": 128)", 3 + 19.0 / 128},
      {R"("quant_method": "auto-round", "bits": 2, "group_size": 32)", 2 + 18.0 / 32},
      {R"("quant_method": "auto-round", "bits": 4, "group_size": 32, "data_type": "mx_fp")", 4.25},
      {R"("quant_method": "bitsandbytes", "load_in_4bit": true)", 4.5},
      {R"("load_in_4bit": true, "bnb_4bit_use_double_quant": true)", 4 + 8.0 / 64 + 32.0 / (64 * 256)},
      {R"("quant_method": "bitsandbytes", "load_in_8bit": true)", 8},
      {R"("quant_method": "fp8", "weight_block_size": [128, 128])", 8},
      {R"("quant_method": "mxfp4")", 4.25},
      {R"("quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 4,
          "type": "float", "group_size": 16}}})",
       4.5},
      {R"("quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 4,
          "type": "float", "group_size": 32}}})",
       4.25},
      {R"("quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 4,
          "type": "int", "group_size": 128, "symmetric": false}}})",
       4 + 20.0 / 128},
      {R"("quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 8,
          "type": "int", "group_size": null}}})",
       8},
      {R"("quant_method": "modelopt", "quant_algo": "NVFP4")", 4.5},
      {R"("quant_method": "modelopt", "quant_algo": "MXFP8")", 8.25},
      {R"("quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 2, "group_size": 16}})",
       4},
      {R"("quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 32})",
       5},
      {R"("quant_method": "torchao", "quant_type": {"default": {"_type": "Int8WeightOnlyConfig"}})", 8},
      {R"("quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp8_e4m3"}})", 8},
      {R"("quant_method": "quark", "global_quant_config": {"weight": {"dtype": "uint4", "group_size": 128,
          "symmetric": false}})",
       4 + 20.0 / 128},
      {R"("quant_method": "bitnet")", 2},
      {R"("quant_method": "bitnet", "quantization_mode": "online")", 16},
      {R"("quant_method": "eetq", "weights": "int8")", 8},
      {R"("quant_method": "quanto", "weights": "int4")", 4.25},
      {R"("quant_method": "exl2", "bits": 3.5, "head_bits": 8)", 3.5},
      {R"("bits": 4, "group_size": 64)", 4.5},
      {R"("bits": 4, "group_size": 32, "mode": "mxfp4")", 4.25}};
  for (const auto& row : kCases) {
    const ModelShape shape = shapeWith(
        R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
        "intermediate_size": 128, "max_position_embeddings": 64, "vocab_size": 100, "quantization_config": {)" +
        std::string(row.quantization) + "}}");
    EXPECT_DOUBLE_EQ(shape.weights.bits, row.bits) << row.quantization;
    EXPECT_TRUE(shape.notes.empty()) << row.quantization << ": " << shape.notes.front();
  }
}

TEST(ModelShapeFields, QuantisationCoversWhatItsLibraryCovers) {
  const auto bytes = [](const std::string& more) {
    return weightBytes(
        shapeWith(R"({"model_type": "llama", "vocab_size": 1024, "hidden_size": 256, "num_hidden_layers": 2,
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

/// Bytes of one token in 16 bits, from each model's own code.
TEST(ModelShapeFields, ReadsFieldsThatChangeTheCache) {
  const std::string sizes = R"("num_hidden_layers": 8, "hidden_size": 64, "num_attention_heads": 8,
    "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 4096, )";
  const std::string attends =
                        R"({"attention": {"n_heads_in_group": 4, "no_op": false}, "ffn": {"ffn_mult": 4.0}})",
                    idle = R"({"attention": {"no_op": true}, "ffn": {"no_op": true}})",
                    linear = R"({"attention": {"replace_with_linear": true}, "ffn": {"ffn_mult": 2.0}})";
  const struct {
    std::string fields;
    std::uint64_t bytes;
  } kCases[] = {
      {R"("model_type": "longcat_flash", "num_layers": 3, "hidden_size": 64, "num_attention_heads": 8,
          "kv_lora_rank": 16, "qk_rope_head_dim": 4, "attention_method": "MLA", "ffn_hidden_size": 128,
          "n_routed_experts": 4, "moe_topk": 2, "expert_ffn_hidden_size": 32, "vocab_size": 100,
          "max_position_embeddings": 64)",
       6 * 20 * 2},
      {sizes + R"("model_type": "hunyuan", "num_key_value_heads": 2, "use_cla": true, "cla_share_factor": 4)",
       2 * 2 * 2 * 8 * 2},
      {sizes +
           R"("model_type": "hunyuan", "num_key_value_heads": 2, "use_cla": false, "cla_share_factor": 4)",
       8 * 2 * 2 * 8 * 2},
      {sizes + R"("model_type": "step3_text", "num_attention_groups": 1, "share_q_dim": 32, "head_dim": 16)",
       8 * 2 * 16 * 2},
      {sizes + R"("model_type": "deci", "num_key_value_heads_per_layer": [4, 4, 2, 2, 1, 1, 1, 1])",
       16 * 2 * 8 * 2},
      {R"("model_type": "nemotron-nas", "num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 8,
          "num_key_value_heads": null, "intermediate_size": null, "vocab_size": 100,
          "max_position_embeddings": 64, "block_configs": [)" +
           attends + ", " + idle + ", " + linear + "]",
       2 * 2 * 8 * 2},
      {sizes +
           R"("model_type": "mllama_text_model", "num_key_value_heads": 2, "cross_attention_layers": [1, 3])",
       6 * 2 * 2 * 8 * 2},
      {R"("dim": 64, "n_layers": 4, "n_heads": 8, "n_kv_heads": 2, "multiple_of": 32, "ffn_dim_multiplier": 1.3,
          "norm_eps": 1e-05, "vocab_size": 100, "max_seq_len": 64)",
       4 * 2 * 2 * 8 * 2}};
  for (const auto& row : kCases) {
    const ModelShape shape = shapeWith("{" + row.fields + "}");
    EXPECT_EQ(cacheCost(shape, {}).perToken, row.bytes) << row.fields;
    for (const std::string& note : shape.notes) EXPECT_EQ(note.find("not read"), note.npos) << note;
  }
  const ModelShape small =
      shapeWith(R"({"model_type": "smallthinker", "num_hidden_layers": 4, "hidden_size": 64,
    "num_attention_heads": 8, "num_key_value_heads": 2, "sliding_window_layout": [0, 1, 1, 1],
    "sliding_window_size": 16, "rope_layout": [0, 1, 1, 1], "moe_ffn_hidden_size": 32, "moe_num_primary_experts": 4,
    "moe_num_active_primary_experts": 2, "vocab_size": 100, "max_position_embeddings": 64})");
  EXPECT_EQ(groupsOf(small), "1 full, 3 window");
  EXPECT_TRUE(small.notes.empty()) << small.notes.front();
  const ModelShape llama = shapeWith(R"({"dim": 8192, "n_layers": 80, "n_heads": 64, "n_kv_heads": 8,
    "multiple_of": 4096, "ffn_dim_multiplier": 1.3, "vocab_size": -1})");
  EXPECT_EQ(llama.innerDim, 28672);
  EXPECT_EQ(llama.vocabulary, 0);
}

TEST(ModelShapeFields, NamesFieldsOfAttentionThatAreNotRead) {
  const auto notes = [](const std::string& more) {
    const ModelShape shape = shapeWith(R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64,
      "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 128, "max_position_embeddings": 64,
      "attention_dropout": 0.1, "layer_norm_eps": 1e-5, "rope_layout": [1], "_attn_implementation": "sdpa", )" +
                                       more + "}");
    return shape.notes.empty() ? std::string() : shape.notes[0];
  };
  EXPECT_EQ(notes(R"("vocab_size": 100)"), "");
  EXPECT_EQ(notes(R"("kv_odd_sharing": 2, "layers_odd": [1, 2], "odd_window": 4)"),
            "not read, and may change these figures: \"kv_odd_sharing\", \"layers_odd\", \"odd_window\"");
  EXPECT_EQ(notes(R"("odd_attention": {"heads": 4})"),
            "not read, and may change these figures: \"odd_attention\"");
  EXPECT_EQ(notes(R"("odd_attention": false, "odd_window": null, "odd_heads": 0, "odd_layers": [])"), "")
      << "switched off";
}

TEST(ModelShapeFields, FindsTextModelsInsideOthers) {
  const std::string sizes = R"("num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 64)";
  const ModelShape omni = shapeWith(R"({"model_type": "qwen2_5_omni", "talker_config": {}, "thinker_config": {
    "audio_config": {}, "text_config": {"model_type": "qwen2_5_omni_text", )" +
                                    sizes + "}}}");
  EXPECT_EQ(cachedAt(omni, 1), 2u * 2 * 2 * 8 * 2);
  EXPECT_EQ(omni.notes, std::vector<std::string>{"only the text model is counted, without talker and audio"});
  const ModelShape llava = shapeWith(R"({"model_type": "llava", "vision_config": {},
    "text_config": {"model_type": "llama", "vocab_size": 32064, "max_position_embeddings": 4096}})");
  EXPECT_EQ(cachedAt(llava, 1), 524288u);
  EXPECT_NEAR(billionsOf(llava), 6.74, 0.01);
  ASSERT_EQ(llava.notes.size(), 2u);
  EXPECT_EQ(llava.notes[0], "sizes that the file leaves out are the defaults of llama in transformers");
}

TEST(ModelShapeFields, EncodersAndDiffusionModelsHaveNoCache) {
  const std::string sizes = R"("num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8,
    "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 64, )";
  for (const char* type :
       {R"("model_type": "albert")", R"("model_type": "esm")",
        R"("model_type": "longformer", "attention_window": [8, 8])", R"("model_type": "wav2vec2")",
        R"("model_type": "llada")", R"("model_type": "clip_text_model")",
        R"("model_type": "llama", "is_causal": false)",
        R"("model_type": "gemma3_text", "use_bidirectional_attention": true)",
        R"("model_type": "detr", "encoder_layers": 2, "decoder_layers": 2)",
        R"("model_type": "xlnet", "mem_len": null)",
        R"("model_type": "t5", "architectures": ["T5EncoderModel"])",
        R"("model_type": "foo", "architectures": ["FooForMaskedLM"])"}) {
    const ModelShape shape = shapeWith("{" + sizes + type + "}");
    EXPECT_FALSE(shape.decodes) << type;
    EXPECT_EQ(cachedAt(shape, 1), 0u) << type;
  }
  const ModelShape memory = shapeWith("{" + sizes + R"("model_type": "transfo-xl", "mem_len": 16})");
  EXPECT_EQ(cachedAt(memory, 8), 8u * 2 * 64 * 2) << "hidden states, not keys and values";
  EXPECT_EQ(cachedAt(memory, 4096), cachedAt(memory, 16));
}

}  // namespace
}  // namespace headscope::attention::test
