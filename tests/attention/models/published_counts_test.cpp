#include <gtest/gtest.h>

#include <string>

#include "attention/cache/model_cost.h"
#include "attention/models/config/model_catalogue.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

ModelShape readShape(const std::string& fields) {
  const auto read = readModelShape("{" + fields + "}", "config.json");
  EXPECT_TRUE(read.ok()) << fields << ": " << (read.ok() ? "" : read.error().message);
  return read.ok() ? *read : ModelShape();
}

std::uint64_t totalOf(const std::string& fields) {
  return parametersOf(readShape(fields)).total;
}

void expectTotal(const std::string& fields, double parameters) {
  EXPECT_NEAR(static_cast<double>(totalOf(fields)) / parameters, 1, 0.001) << fields;
}

const std::string kBase = R"("hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12,
  "intermediate_size": 3072, "max_position_embeddings": 512, )";

// The counts are those of models that transformers 5.17 makes from the same fields, or of published files.

TEST(PublishedCounts, DecodersMatch) {
  expectTotal(
      R"("model_type": "lfm2", "hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
    "num_key_value_heads": 8, "block_ff_dim": 12288, "full_attn_idxs": [2, 5, 8, 10, 12, 14],
    "vocab_size": 65536)",
      1170340608);
  expectTotal(
      R"("model_type": "qwen3_moe", "vocab_size": 151936, "hidden_size": 2048, "num_hidden_layers": 24,
    "num_attention_heads": 32, "num_key_value_heads": 4, "intermediate_size": 6144, "moe_intermediate_size": 768,
    "num_experts_per_tok": 8, "num_local_experts": 128)",
      15350731776);
  expectTotal(R"("model_type": "glm4_moe", "vocab_size": 151552, "hidden_size": 4096, "num_hidden_layers": 46,
    "num_attention_heads": 96, "num_key_value_heads": 8, "intermediate_size": 10944,
    "moe_intermediate_size": 1408, "num_experts_per_tok": 8, "n_shared_experts": 1, "n_routed_experts": 128)",
              103481200640);
  expectTotal(R"("model_type": "apertus", "vocab_size": 131072, "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "intermediate_size": 14336)",
              6979596352);
  expectTotal(
      R"("model_type": "xglm", "vocab_size": 256008, "d_model": 1024, "ffn_dim": 4096, "num_layers": 24,
    "attention_heads": 16)",
      564463616);
  expectTotal(R"("model_type": "opt", "vocab_size": 50272, "hidden_size": 1024, "word_embed_proj_dim": 512,
    "ffn_dim": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "max_position_embeddings": 2048)",
              331196416);
  expectTotal(R"("model_type": "doge", "vocab_size": 32768, "hidden_size": 1024, "num_hidden_layers": 32,
    "num_attention_heads": 8, "intermediate_size": 2048, "is_moe": false, "num_experts": 16384)",
              403055872);
}

TEST(PublishedCounts, NotesUnusedMapsOfSharedCaches) {
  const std::string gemma = R"("model_type": "gemma3n_text", "hidden_size": 2048, "num_hidden_layers": 35,
    "num_attention_heads": 8, "num_key_value_heads": 2, "intermediate_size": 16384,
    "max_position_embeddings": 32768)";
  expectTotal(gemma, 6835235568 + 15. * 2 * 2048 * 512);
  EXPECT_THAT(readShape(gemma).notes, ElementsAre(HasSubstr("in 15 layers with a shared cache are counted")));
  EXPECT_THAT(readShape(gemma + R"(, "num_kv_shared_layers": 0)").notes, IsEmpty());
}

TEST(PublishedCounts, NullHeadDimMeansWidthOverHeads) {
  for (const char* type : {R"("minimax", "attn_type_list": [0, 1])", R"("qwen3")", R"("gemma")"}) {
    const auto with = [&](const std::string& headDim) {
      return readShape(R"("hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 8,
        "head_dim": )" +
                       headDim + R"(, "model_type": )" + type);
    };
    EXPECT_EQ(with("null"), with("8")) << type;
  }
}

TEST(PublishedCounts, EncodersMatch) {
  const std::string deberta = kBase + R"("relative_attention": true, "max_relative_positions": -1,
    "position_biased_input": false, "pos_att_type": "p2c|c2p", "model_type": )";
  expectTotal(deberta + R"("deberta", "architectures": ["DebertaModel"], "vocab_size": 50265)", 138601728);
  expectTotal(deberta + R"("deberta-v2", "architectures": ["DebertaV2Model"], "vocab_size": 128100,
    "position_buckets": 256, "share_att_key": true)",
              183831552);
  expectTotal(R"("model_type": "electra", "architectures": ["ElectraForMaskedLM"], "vocab_size": 30522,
    "embedding_size": 128, "hidden_size": 256, "num_hidden_layers": 12, "num_attention_heads": 4,
    "intermediate_size": 1024, "max_position_embeddings": 512)",
              13546682);
  expectTotal(R"("model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"], "vocab_size": 30522,
    "n_layers": 6, "n_heads": 12, "dim": 768, "hidden_dim": 3072, "max_position_embeddings": 512)",
              66985530);
  expectTotal(R"("model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"], "vocab_size": 50368,
    "hidden_size": 768, "intermediate_size": 1152, "num_hidden_layers": 22, "num_attention_heads": 12)",
              149655232);
  expectTotal(
      kBase + R"("model_type": "roberta-prelayernorm", "architectures": ["RobertaPreLayerNormForMaskedLM"],
    "vocab_size": 50265)",
      124698201);
}

TEST(PublishedCounts, HeadsOfEncodersDependOnClass) {
  const auto bert = [](const std::string& name) {
    return static_cast<double>(totalOf(kBase + R"("model_type": "bert", "vocab_size": 30522,
      "architectures": [")" + name + "\"]"));
  };
  EXPECT_NEAR(bert("BertModel"), 109482240, 1e4);
  EXPECT_NEAR(bert("BertForMaskedLM"), 109514298, 1e4);
  EXPECT_NEAR(bert("BertForPreTraining"), 110106428, 4e4);
  EXPECT_NEAR(bert("BertForTokenClassification"), 108893186, 1e4);
  const auto distilbert = [](const std::string& name) {
    return totalOf(R"("model_type": "distilbert", "vocab_size": 30522, "n_layers": 6, "n_heads": 12,
      "dim": 768, "hidden_dim": 3072, "max_position_embeddings": 512, "architectures": [")" +
                   name + "\"]");
  };
  EXPECT_EQ(distilbert("DistilBertForSequenceClassification") - distilbert("DistilBertModel"), 768u * 768);
  EXPECT_EQ(distilbert("DistilBertForQuestionAnswering"), distilbert("DistilBertModel"));
}

TEST(PublishedCounts, EncoderDecodersMatchWithAndWithoutEncoder) {
  const std::string sizes = R"("d_model": 1024, "encoder_layers": 12, "decoder_layers": 12,
    "encoder_attention_heads": 16, "decoder_attention_heads": 16, "encoder_ffn_dim": 4096,
    "decoder_ffn_dim": 4096, "max_position_embeddings": 1024, )";
  const std::string alone = sizes + R"("model_type": "bart", "vocab_size": 50265,
    "architectures": ["BartForCausalLM"])";
  const std::string pair = sizes + R"("model_type": "bart", "vocab_size": 50265)";
  expectTotal(alone, 254084096);
  expectTotal(pair, 406291456);
  expectTotal(sizes + R"("model_type": "marian", "vocab_size": 58101)", 414307328);
  expectTotal(sizes + R"("model_type": "marian", "vocab_size": 58101,
    "architectures": ["MarianForCausalLM"])",
              262104064);
  expectTotal(sizes + R"("model_type": "pegasus", "vocab_size": 50265)", 406287360);
  const auto bytes = [](const std::string& fields) {
    return cacheBytes(readShape(fields), 100, 1, NumberFormat::bf16);
  };
  EXPECT_EQ(bytes(alone), 100u * 12 * 2 * 1024 * 2) << "its attention to an encoder caches nothing";
  EXPECT_GT(bytes(pair), bytes(alone));
}

TEST(PublishedCounts, HybridsListedByTransformersAreRead) {
  const std::string sizes = R"("hidden_size": 64, "num_attention_heads": 8, "num_key_value_heads": 2,
    "intermediate_size": 128, "mamba_num_heads": 4, "mamba_head_dim": 16, )";
  const ModelShape pattern = readShape(
      sizes + R"("model_type": "nemotron_h", "num_hidden_layers": 3, "hybrid_override_pattern": "M-*")");
  const ModelShape named = readShape(sizes + R"("model_type": "nemotron_h",
    "layers_block_type": ["linear_attention", "mlp", "full_attention"])");
  EXPECT_EQ(pattern, named);
  EXPECT_EQ(readModelShape("{" + sizes + R"("model_type": "nemotron_h", "layers_block_type": ["odd"]})", "x")
                .error()
                .message,
            "x: layers_block_type is \"odd\", expected linear_attention, full_attention, mlp or moe");
  const ModelShape bamba = readShape(R"("model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128000,
    "time_step_limit": [0.0, Infinity], "attn_layer_indices": null)");
  EXPECT_NEAR(static_cast<double>(parametersOf(bamba).total), 9992765440., 1e7);
  const std::string latent = R"("model_type": "deepseek_v32", "hidden_size": 7168, "num_hidden_layers": 2,
    "num_attention_heads": 128, "q_lora_rank": 1536, "intermediate_size": 18432, "vocab_size": 129280)";
  EXPECT_EQ(readShape(latent + R"(, "layer_types": ["deepseek_sparse_attention",
    "deepseek_sparse_attention"])"),
            readShape(latent));
}

TEST(PublishedCounts, NamesUncountedModels) {
  const std::string text = R"("text_config": {"model_type": "granite", "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 8, "intermediate_size": 128,
    "max_position_embeddings": 64})";
  const auto note = [&](const std::string& more) {
    const ModelShape shape = readShape(text + more);
    return shape.notes.empty() ? "" : shape.notes.back();
  };
  EXPECT_EQ(note(""), "");
  EXPECT_EQ(note(R"(, "quantization_config": {"quant_method": "fp8"}, "vision_config": null)"), "");
  EXPECT_EQ(note(R"(, "encoder_config": {}, "audio_config": {}, "projector_config": {})"),
            "only the text model is counted, without audio, encoder and projector");
  EXPECT_THAT(readShape(R"("model_type": "qwen2_vl", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 8, "vision_config": {"depth": 32})")
                  .notes.back(),
              HasSubstr("without vision"))
      << "the text model's fields are at the top";
}

}  // namespace
}  // namespace headscope::attention::test
