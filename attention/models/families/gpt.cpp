#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

namespace headscope::attention::families {

// GPT-Neo (Black et al. 2021): GPT-2 with a window on every other layer, and unscaled scores.

namespace {

constexpr std::string_view kGptNeoxPrefixes[] = {"gpt_neox.", ""},
                           kOptPrefixes[] = {"model.decoder.", "decoder."};

/// attention_layers names the local layers, or else attention_types does, as [[["global", "local"], 12]]; if
/// both are absent, every other one is local.
void readLocalLayers(const ConfigReader& json, ModelConfig& config) {
  const auto window = json.size("window_size", 256, 1, kMaxPositions);
  const bool listed = json.has("attention_layers");
  const char* const key = listed ? "attention_layers" : "attention_types";
  const std::vector<std::string> repeated = json.repeatedTexts("attention_types", config.layerCount());
  const std::vector<std::string> kinds = listed ? json.texts(key) : repeated;
  if (json.has(key) && std::ssize(kinds) != config.layerCount())
    return json.refuse(key, "a list for " + std::to_string(kinds.size()) + " layers",
                       "one for each of the " + std::to_string(config.layerCount()) + " layers");
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const bool local = kinds.empty() ? i % 2 == 1 : kinds[i] == "local";
    if (!kinds.empty() && !local && kinds[i] != "global")
      json.refuse(key, quotedText(kinds[i]), "global or local");
    if (local) config.layers[i].window = window;
    config.layers[i].scale = 1;
  }
}

}  // namespace

constinit const Family gptNeo{
    .name = "gpt_neo",
    .architecture = "GPTNeo",
    .prefixes = kTransformerPrefixes,
    .names = {.embedding = "wte",
              .positions = "wpe",
              .layer = "h.N.",
              .q = "attn.attention.q_proj",
              .k = "attn.attention.k_proj",
              .v = "attn.attention.v_proj",
              .o = "attn.attention.out_proj",
              .up = "mlp.c_fc",
              .down = "mlp.c_proj",
              .attentionNorm = "ln_1",
              .mlpNorm = "ln_2",
              .finalNorm = "ln_f",
              .head = "lm_head"},
    .fields = {.ignored = "resid_dropout embed_dropout summary_type summary_use_proj "
                          "summary_activation summary_proj_to_labels summary_first_dropout",
               .fixed = "num_attention_heads=@num_heads num_hidden_layers=@num_layers",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readSizes(json, {.heads = "num_heads", .layers = "num_layers"}, config);
          config.innerDim = json.size("intermediate_size", std::min(4 * config.modelDim, kMaxConfigSize));
          config.positionRows = config.maxPositions = json.size("max_position_embeddings", 2048);
          config.activation = readActivation(json, "activation_function", "gelu_new");
          config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
          config.outputBias = config.mlpBias = true;
          readLocalLayers(json, config);
        },
};

// GPT-NeoX and Pythia (Black et al. 2022; Biderman et al. 2023): part of each head is rotated, and attention
// and MLP read the same stream.

constinit const Family gptNeox{
    .name = "gpt_neox",
    .architecture = "GPTNeoX",
    .prefixes = kGptNeoxPrefixes,
    .names = {.embedding = "embed_in",
              .layer = "layers.N.",
              .qkv = "attention.query_key_value",
              .fused = FusedRows::heads,
              .o = "attention.dense",
              .up = "mlp.dense_h_to_4h",
              .down = "mlp.dense_4h_to_h",
              .attentionNorm = "input_layernorm",
              .mlpNorm = "post_attention_layernorm",
              .finalNorm = "final_layer_norm",
              .head = "embed_out"},
    .tied = false,
    .fields = {.ignored = "original_max_position_embeddings",
               .fixed = "partial_rotary_factor=@rotary_pct rope_theta=@rotary_emb_base",
               .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readSizes(json, {}, config);
          config.innerDim = json.size("intermediate_size");
          // The published code rotates with one width and multiplies with the other.
          if (const auto said = json.optionalSize("head_dim"); said && *said != config.headDim)
            json.refuse("head_dim", std::to_string(*said),
                        fmt::format("{}, hidden_size over num_attention_heads", config.headDim));
          config.maxPositions = json.size("max_position_embeddings", 2048, 1, kMaxPositions);
          config.activation = readActivation(json, "hidden_act", "gelu");
          config.epsilon = json.positive("layer_norm_eps", 1e-5);
          config.order = json.flag("use_parallel_residual", true) ? BlockOrder::parallel : BlockOrder::before;
          config.qkvBias = config.outputBias = json.flag("attention_bias", true);
          config.mlpBias = true;
          readRotation(json, {.partial = 0.25, .thetaKey = "rotary_emb_base", .partialKey = "rotary_pct"},
                       config);
        },
};

// gpt-oss (OpenAI 2025): a mixture of experts in every layer, a window on every other one, and a sink per
// head: a learned score that belongs to no key, in addition to those of the keys.

constinit const Family gptOss{
    .name = "gpt_oss",
    .architecture = "GptOss",
    .names = changed(kLlamaNames,
                     [](TensorNames& names) {
                       names.up = names.down = names.gate = {};
                       names.sinks = "self_attn.sinks";
                       names.router = "mlp.router";
                       names.expertGateUp = "mlp.experts.gate_up_proj";
                       names.expertDown = "mlp.experts.down_proj";
                     }),
    .tied = false,
    .fields = {.ignored = "initial_context_length",
               .fixed = "swiglu_alpha=1.702 swiglu_limit=7.0 experts_per_token=@num_experts_per_tok",
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlamaSizes(
              json, config,
              {.positions = 131072, .kvHeads = 8, .headDim = 64, .epsilon = 1e-5, .attentionBias = true});
          config.sinks = true;
          // Regardless of hidden_act (GptOssExperts of transformers).
          config.activation = Activation::quickGelu;
          config.gateLimit = 7;
          addRope(json, R"({"rope_type": "yarn", "factor": 32.0, "truncate": false,
                    "original_max_position_embeddings": 4096})");
          readRotation(json, {.theta = 150000}, config);
          readWindows(json, readWindow(json, 128), everyOther, 0, config);
          readMixture(
              json,
              {.experts = "num_local_experts", .innerDim = "intermediate_size", .count = 128, .used = 4},
              config);
          config.mixture.sumsToOne = true;  // the softmax covers only the chosen experts
          config.mixture.biased = true;
        },
};

// OPT (Zhang et al. 2022): learned positions from row 2 on, LayerNorm before each part, ReLU. OPT-350M has
// narrower embeddings and its norms after each part; Galactica (Taylor et al. 2022) has no biases and norms
// without weights.

constinit const Family opt{
    .name = "opt",
    .architecture = "OPT",
    .prefixes = kOptPrefixes,
    .names = changed(kOptNames,
                     [](TensorNames& names) {
                       names.positions = "embed_positions";
                       names.embeddingMap = "project_in";
                       names.headMap = "project_out";
                       names.finalNorm = "final_layer_norm";
                     }),
    .fields = {.ignored = "activation_dropout init_std", .base = &kSharedFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readSizes(json, {}, config);
          config.innerDim = json.size("ffn_dim");
          config.maxPositions = json.size("max_position_embeddings", 2048);
          // The table of positions has this many more rows than there are positions.
          constexpr Index kFirstRow = 2;
          config.positionRows = config.maxPositions + kFirstRow;
          config.firstPosition = kFirstRow;
          config.activation = readActivation(json, "activation_function", "relu");
          config.qkvBias = config.outputBias = config.mlpBias = json.flag("enable_bias", true);
          const bool before = json.flag("do_layer_norm_before", true);
          if (!before) config.order = BlockOrder::after;
          config.finalNorm = !json.flag("_remove_final_layer_norm", false) && before;
          config.normWeight = json.flag("layer_norm_elementwise_affine", true);
          const Index width = json.size("word_embed_proj_dim", config.modelDim);
          if (width != config.modelDim) config.embeddingDim = width;
        },
};

}  // namespace headscope::attention::families
