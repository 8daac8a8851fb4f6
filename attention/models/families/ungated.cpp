#include "attention/models/families/fields.h"

// Models with Llama's attention whose MLP has no gate.

namespace headscope::attention::families {
namespace {

/// Reads Llama's fields, with relu2 as the default of hidden_act, and mlp_bias.
void readUngated(const ConfigReader& json, ModelConfig& config, LlamaDefaults defaults,
                 const RopeDefaults& rope = {}) {
  defaults.activation = "relu2";
  readLlama(json, config, defaults, rope);
  config.gated = false;
  config.mlpBias = json.flag("mlp_bias", false);
}

void useLayerNorm(const ConfigReader& json, std::string_view epsilon, ModelConfig& config) {
  config.norm = NormKind::layer;
  config.epsilon = json.positive(epsilon, 1e-5);
}

// AFM (Arcee AI 2025).
constexpr Family kArcee{
    .name = "arcee",
    .architecture = "Arcee",
    .names = withoutGate(kLlamaNames),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readUngated(json, config, {.positions = 4096, .epsilon = 1e-5, .attentionBias = false});
        },
};

// Jais 2 (Inception 2025): LayerNorm, and biases everywhere.
constexpr Family kJais2{
    .name = "jais2",
    .architecture = "Jais2",
    .names = withoutGate(kLlamaNames),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readUngated(json, config, {.positions = 8192, .attentionBias = true});
          config.mlpBias = json.flag("mlp_bias", true);
          useLayerNorm(json, "layer_norm_eps", config);
        },
};

// Nemotron-4 and Minitron (Parmar et al. 2024): LayerNorm with 1 + w; half of each head is rotated.
constexpr Family kNemotron{
    .name = "nemotron",
    .architecture = "Nemotron",
    .names = withoutGate(kLlamaNames),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readUngated(json, config, {.positions = 4096, .attentionBias = false}, {.partial = 0.5});
          useLayerNorm(json, "norm_eps", config);
          config.normPlusOne = true;
        },
};

// Persimmon (Elsen et al. 2023): LayerNorm, also of each head's queries and keys; half of each head is
// rotated.
constexpr Family kPersimmon{
    .name = "persimmon",
    .architecture = "Persimmon",
    .names = {.embedding = "embed_tokens",
              .layer = "layers.N.",
              .qkv = "self_attn.query_key_value",
              .fused = FusedRows::heads,
              .o = "self_attn.dense",
              .up = "mlp.dense_h_to_4h",
              .down = "mlp.dense_4h_to_h",
              .attentionNorm = "input_layernorm",
              .mlpNorm = "post_attention_layernorm",
              .qNorm = "self_attn.q_layernorm",
              .kNorm = "self_attn.k_layernorm",
              .finalNorm = "final_layernorm",
              .head = "lm_head"},
    .tied = false,
    .fields = {.fixed = "num_key_value_heads=@num_attention_heads", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readUngated(json, config, {.positions = 16384}, {.partial = 0.5});
          config.kvHeads = config.heads;
          config.qkvBias = config.outputBias = config.mlpBias = true;
          useLayerNorm(json, "layer_norm_eps", config);
          if (json.flag("qk_layernorm", true)) config.qkNorm = QkNorm::head;
        },
};

// nanochat (Karpathy 2025): norms without weights, also of the embeddings and of the rotated queries and
// keys; rotation is clockwise; logits have a soft-cap.
constexpr Family kNanoChat{
    .name = "nanochat",
    .architecture = "NanoChat",
    .names = changed(withHeadNorms(withoutGate(kLlamaNames)),
                     [](TensorNames& names) {
                       names.embeddingNorm = "norm";
                       names.up = "mlp.fc1";
                       names.down = "mlp.fc2";
                     }),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readUngated(json, config, {.positions = 2048, .attentionBias = false});
          config.normWeight = false;
          config.qkNorm = QkNorm::head;
          config.rotatedFirst = true;
          for (double& frequency : config.rotations[0].frequencies) frequency = -frequency;
          if (!json.isNull("final_logit_softcapping"))
            config.finalSoftcap = static_cast<float>(json.positive("final_logit_softcapping", 15));
        },
};

// Apertus (Hernández-Cano et al. 2025): norms of each head's queries and keys, and xIELU.
constexpr Family kApertus{
    .name = "apertus",
    .architecture = "Apertus",
    .names = changed(withHeadNorms(withoutGate(kLlamaNames)),
                     [](TensorNames& names) {
                       names.attentionNorm = "attention_layernorm";
                       names.mlpNorm = "feedforward_layernorm";
                       names.curve = "mlp.act_fn";
                     }),
    .tied = false,
    .fields = {.fixed = "mlp_bias=false post_norm=false qk_norm=true", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          addRope(json, R"({"rope_type": "llama3", "rope_theta": 12000000.0, "factor": 8.0,
                    "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                    "original_max_position_embeddings": 8192})");
          readLlama(json, config,
                    {.positions = 65536, .epsilon = 1e-5, .attentionBias = false, .activation = "xielu"},
                    {.theta = 12e6});
          config.gated = false;
          config.qkNorm = QkNorm::head;
        },
};

constexpr Family kUngated[] = {kArcee, kJais2, kNemotron, kPersimmon, kNanoChat, kApertus};

}  // namespace

std::span<const Family> ungated() {
  return kUngated;
}

}  // namespace headscope::attention::families
