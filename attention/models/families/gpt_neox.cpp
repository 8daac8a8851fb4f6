#include <fmt/core.h>

#include "attention/models/families/fields.h"

// GPT-NeoX and Pythia (Black et al. 2022; Biderman et al. 2023): part of each head is rotated, and attention
// and MLP read the same stream.

namespace headscope::attention {
namespace {

constexpr std::string_view kGptNeoxPrefixes[] = {"gpt_neox.", ""};

void readGptNeox(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("hidden_size");
  config.innerDim = json.size("intermediate_size");
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = json.size("num_attention_heads");
  config.headDim =
      families::evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  // The published code rotates with one width and multiplies with the other.
  if (const auto said = json.optionalSize("head_dim"); said && *said != config.headDim)
    json.refuse("head_dim", std::to_string(*said),
                fmt::format("{}, hidden_size over num_attention_heads", config.headDim));
  config.maxPositions = json.size("max_position_embeddings", 2048, 1, kMaxPositions);
  config.activation = families::readActivation(json, "hidden_act", "gelu");
  config.epsilon = json.positive("layer_norm_eps", 1e-5);
  config.order = json.flag("use_parallel_residual", true) ? BlockOrder::parallel : BlockOrder::before;
  config.qkvBias = config.outputBias = json.flag("attention_bias", true);
  config.mlpBias = true;
  families::addLayers(config, json.size("num_hidden_layers", {}, 1, kMaxLayers));
  families::readRotation(json, {.partial = 0.25, .thetaKey = "rotary_emb_base", .partialKey = "rotary_pct"},
                         config);
}

}  // namespace

constinit const Family families::gptNeox{
    .name = "gpt_neox",
    .architecture = "GPTNeoX",
    .prefixes = kGptNeoxPrefixes,
    .headPrefixes = kNoPrefix,
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
    .fields = {.read = "hidden_size intermediate_size vocab_size num_attention_heads num_hidden_layers "
                       "max_position_embeddings hidden_act layer_norm_eps use_parallel_residual "
                       "attention_bias head_dim rotary_pct rotary_emb_base rope_scaling rope_parameters",
               .ignored = "original_max_position_embeddings",
               .fixed = "partial_rotary_factor=@rotary_pct rope_theta=@rotary_emb_base",
               .base = &kSharedFields},
    .read = readGptNeox,
};

}  // namespace headscope::attention
