#include <algorithm>

#include "attention/models/families/fields.h"

// GPT-2 (Radford et al. 2019): learned positions, LayerNorm before each part, weights as [in, out].

namespace headscope::attention {
namespace {

constexpr std::string_view kGpt2Prefixes[] = {"transformer.", ""};

void readGpt2(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("n_embd");
  config.innerDim = json.size("n_inner", std::min(4 * config.modelDim, kMaxConfigSize));
  config.heads = config.kvHeads = json.size("n_head");
  config.headDim = families::evenShare(json, "n_embd", config.modelDim, "n_head", config.heads);
  config.vocabulary = json.size("vocab_size");
  config.positionRows = config.maxPositions = json.size("n_positions");
  config.activation = families::readActivation(json, "activation_function", "gelu_new");
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.qkvBias = config.outputBias = config.mlpBias = true;
  families::addLayers(config, json.size("n_layer", {}, 1, kMaxLayers));
  if (!json.flag("scale_attn_weights", true))
    for (LayerKind& layer : config.layers) layer.scale = 1;
  if (json.flag("scale_attn_by_inverse_layer_idx", false))
    for (std::size_t i = 0; i < config.layers.size(); ++i)
      config.layers[i].scale /= static_cast<float>(i + 1);
}

}  // namespace

constinit const Family families::gpt2{
    .name = "gpt2",
    .architecture = "GPT2",
    .prefixes = kGpt2Prefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "wte",
              .positions = "wpe",
              .layer = "h.N.",
              .qkv = "attn.c_attn",
              .o = "attn.c_proj",
              .up = "mlp.c_fc",
              .down = "mlp.c_proj",
              .attentionNorm = "ln_1",
              .mlpNorm = "ln_2",
              .finalNorm = "ln_f",
              .head = "lm_head",
              .inFirst = true},
    .aliases = "gpt-sw3",
    .fields = {.read = "n_embd n_inner n_head n_layer n_positions vocab_size activation_function "
                       "layer_norm_epsilon scale_attn_weights scale_attn_by_inverse_layer_idx",
               .ignored = "n_ctx reorder_and_upcast_attn summary_type summary_use_proj summary_activation "
                          "summary_proj_to_labels summary_first_dropout summary_last_dropout "
                          "predict_special_tokens",
               .fixed = "hidden_size=@n_embd num_attention_heads=@n_head num_hidden_layers=@n_layer "
                        "max_position_embeddings=@n_positions",
               .base = &kSharedFields},
    .read = readGpt2,
};

}  // namespace headscope::attention
