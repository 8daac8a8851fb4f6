#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

// Families with Llama's sizes and other norms, biases, rotations or fused weights.

namespace headscope::attention::families {

namespace {

/// One tensor has the MLP's gate and up.
constexpr TensorNames kGateUpNames = changed(kLlamaNames, [](TensorNames& names) {
  names.gate = names.up = {};
  names.gateUp = "mlp.gate_up_proj";
});

}  // namespace

// Phi-1, 1.5 and 2 (Gunasekar et al. 2023; Li et al. 2023): attention and MLP read the same LayerNorm of the
// stream, part of each head is rotated, and the language-model head has a bias.

constinit const Family phi{
    .name = "phi",
    .architecture = "Phi",
    .names = {.embedding = "embed_tokens",
              .layer = "layers.N.",
              .q = "self_attn.q_proj",
              .k = "self_attn.k_proj",
              .v = "self_attn.v_proj",
              .o = "self_attn.dense",
              .up = "mlp.fc1",
              .down = "mlp.fc2",
              .attentionNorm = "input_layernorm",
              .mlpNorm = "input_layernorm",
              .qNorm = "self_attn.q_layernorm",
              .kNorm = "self_attn.k_layernorm",
              .finalNorm = "final_layernorm",
              .head = "lm_head"},
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .activation = "gelu_new"}, {.partial = 0.5});
          config.epsilon = json.positive("layer_norm_eps", 1e-5);
          config.norm = NormKind::layer;
          config.order = BlockOrder::parallel;
          config.gated = false;
          config.qkvBias = config.outputBias = config.mlpBias = config.headBias = true;
          if (json.flag("qk_layernorm", false)) config.qkNorm = QkNorm::head;
        },
};

// Phi-3 and Phi-4-mini (Abdin et al. 2024): Llama with fused weights.

constinit const Family phi3{
    .name = "phi3",
    .architecture = "Phi3",
    .names = changed(kGateUpNames,
                     [](TensorNames& names) {
                       names.q = names.k = names.v = {};
                       names.qkv = "self_attn.qkv_proj";
                     }),
    .tied = false,
    .fields = {.fixed = "attention_bias=false mlp_bias=false lm_head_bias=false full_attn_mod=1 "
                        "interpolate_factor=1",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 4096, .epsilon = 1e-5}, {.partial = 1});
          readOptionalWindow(json, config);
        },
};

// Command R (Cohere 2024): attention and MLP read the same LayerNorm of the stream, which has no bias;
// neighbouring dimensions are rotated together, and logits are scaled. Command R+: each head's queries and
// keys have their own norm. Command R7B and A (Cohere 2025): three layers with a window for each layer
// without one; only those with a window are rotated.

namespace {

constexpr TensorNames kCohereNames =
    changed(withHeadNorms(kLlamaNames), [](TensorNames& names) { names.mlpNorm = names.attentionNorm; });

void readBoth(const ConfigReader& json, double theta, ModelConfig& config) {
  readLlama(json, config, {.positions = 8192, .attentionBias = false}, {.theta = theta});
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.norm = NormKind::layer;
  config.normBias = false;
  config.order = BlockOrder::parallel;
  config.logitScale = static_cast<float>(json.positive("logit_scale", 0.0625));
  for (Rotation& rotation : config.rotations) rotation.interleaved = true;
}

}  // namespace

constinit const Family cohere{
    .name = "cohere",
    .architecture = "Cohere",
    .names = kCohereNames,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readBoth(json, 500000, config);
          if (json.flag("use_qk_norm", false)) config.qkNorm = QkNorm::perHead;
        },
};

constinit const Family cohere2{
    .name = "cohere2",
    .architecture = "Cohere2",
    .names = kCohereNames,
    .fields = {.ignored = "_sliding_window_pattern use_parallel_embedding",
               .fixed = "layer_switch=4 order_of_interleaved_layers=\"local_attn_first\" "
                        "position_embedding_type=\"rope_gptj\" rotary_pct=1.0 use_embedding_sharing=true "
                        "use_gated_activation=true use_parallel_block=true",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readBoth(json, 10000, config);
          readWindows(json, readWindow(json, 4096), allButEvery,
                      json.size("sliding_window_pattern", 4, 1, kMaxLayers), config);
          for (LayerKind& layer : config.layers)
            if (!layer.window) layer.rotation.reset();
        },
};

// GLM-4 (GLM Team 2024, 2025): Llama in which the neighbouring dimensions of half of each head are rotated
// together; since 0414 also with norms after attention and MLP.

namespace {

void readGlm(const ConfigReader& json, ModelConfig& config) {
  readLlama(json, config, {.positions = 131072, .kvHeads = 2, .headDim = 128, .epsilon = 1.5625e-7},
            {.partial = 0.5});
  config.qkvBias = json.flag("attention_bias", true);
  for (Rotation& rotation : config.rotations) rotation.interleaved = true;
}

}  // namespace

constinit const Family glm{
    .name = "glm",
    .architecture = "Glm",
    .names = kGateUpNames,
    .tied = false,
    .read = readGlm,
};

constinit const Family glm4{
    .name = "glm4",
    .architecture = "Glm4",
    .names = changed(kGateUpNames,
                     [](TensorNames& names) {
                       names.afterAttentionNorm = "post_self_attn_layernorm";
                       names.afterMlpNorm = "post_mlp_layernorm";
                     }),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGlm(json, config);
          config.order = BlockOrder::around;
        },
};

// OLMo (Groeneveld et al. 2024): Llama with LayerNorm that has neither weights nor biases.

constinit const Family olmo{
    .name = "olmo",
    .architecture = "Olmo",
    .tied = false,
    .fields = {.fixed = "mlp_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .attentionBias = false});
          config.norm = NormKind::layer;
          config.normWeight = false;
          config.epsilon = 1e-5;  // regardless of config.json (OlmoLayerNorm of transformers)
          if (const auto most = json.optionalPositive("clip_qkv")) config.clip = static_cast<float>(*most);
        },
};

// OLMo 2 (OLMo et al. 2024): Llama with its norms after attention and MLP instead of before, and RMSNorm over
// all queries, and over all keys, of a token together. OLMo 3 (OLMo Team 2025): three layers with a window
// for each layer without one, and scaled rotations only in the latter.

namespace {

constexpr TensorNames kOlmo2Names = changed(withHeadNorms(kLlamaNames), [](TensorNames& names) {
  names.attentionNorm = names.mlpNorm = {};
  names.afterAttentionNorm = "post_attention_layernorm";
  names.afterMlpNorm = "post_feedforward_layernorm";
});

void readOlmo(const ConfigReader& json, ModelConfig& config) {
  readLlamaSizes(json, config, {.positions = 2048, .epsilon = 1e-5, .attentionBias = false});
  config.order = BlockOrder::around;
  config.qkNorm = QkNorm::whole;
}

}  // namespace

constinit const Family olmo2{
    .name = "olmo2",
    .architecture = "Olmo2",
    .names = kOlmo2Names,
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readOlmo(json, config);
          readRotation(json, {}, config);
        },
};

constinit const Family olmo3{
    .name = "olmo3",
    .architecture = "Olmo3",
    .names = kOlmo2Names,
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readOlmo(json, config);
          readWindows(json, readWindow(json, 4096), allButEvery, 4, config);
          constexpr double kTheta = 500000;
          readRotations(json, {.theta = kTheta}, json.positive("rope_theta", kTheta), config);
        },
};

// EXAONE 4 (LG AI Research 2025): OLMo 2 with norms of each head's queries and keys. If it has a window, the
// layers without one aren't rotated.

void readExaoneWindows(const ConfigReader& json, ModelConfig& config) {
  const auto window = readWindow(json, 4096);
  // Files with a pattern of letters also list the layers, and the list counts.
  const bool letters = json.has("layer_types") && json.isText("sliding_window_pattern");
  const std::string kinds = letters ? json.text("sliding_window_pattern", "") : "";
  if (kinds.find_first_not_of("LG") != std::string::npos)
    json.refuse("sliding_window_pattern", quotedText(kinds), "a number, or the letters L and G");
  // transformers 5 writes 0 if there is no window.
  const Index pattern =
      letters ? 1 : std::max<Index>(json.size("sliding_window_pattern", 4, window ? 1 : 0, kMaxLayers), 1);
  readWindows(json, window, allButEvery, pattern, config);
  for (LayerKind& layer : config.layers)
    if (window && !layer.window) layer.rotation.reset();
}

constinit const Family exaone4{
    .name = "exaone4",
    .architecture = "Exaone4",
    .names = kOlmo2Names,
    .tied = false,
    .fields = {.fixed = "attention_bias=false mlp_bias=false", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 2048, .kvHeads = 32, .epsilon = 1e-5});
          config.order = BlockOrder::around;
          config.qkNorm = QkNorm::head;
          readExaoneWindows(json, config);
        },
};

// OLMoE (Muennighoff et al. 2024): Llama with a mixture of experts in every layer and RMSNorm over all
// queries, and over all keys, of a token together.

constinit const Family olmoe{
    .name = "olmoe",
    .architecture = "Olmoe",
    .names = withHeadNorms(withExperts(kLlamaNames)),
    .tied = false,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config, {.positions = 4096, .epsilon = 1e-5, .attentionBias = false});
          config.qkNorm = QkNorm::whole;
          if (const auto most = json.optionalPositive("clip_qkv")) config.clip = static_cast<float>(*most);
          readMixture(json, {.innerDim = "intermediate_size", .count = 64, .used = 8}, config);
          config.mixture.sumsToOne = json.flag("norm_topk_prob", false);
        },
};

}  // namespace headscope::attention::families
