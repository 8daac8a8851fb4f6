#include <algorithm>

#include "attention/models/families/fields.h"

// GPT-J (Wang & Komatsuzaki 2021): attention and MLP read the same LayerNorm of the stream; neighbouring
// dimensions are rotated together.

namespace headscope::attention {
namespace {

constexpr std::string_view kGptJPrefixes[] = {"transformer.", ""};

void readGptJ(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("n_embd");
  config.innerDim = json.size("n_inner", std::min(4 * config.modelDim, kMaxConfigSize));
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = json.size("n_head");
  config.headDim = families::evenShare(json, "n_embd", config.modelDim, "n_head", config.heads);
  config.maxPositions = json.size("n_positions", 2048, 1, kMaxPositions);
  config.activation = families::readActivation(json, "activation_function", "gelu_new");
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.order = BlockOrder::parallel;
  config.mlpBias = config.headBias = true;
  families::addLayers(config, json.size("n_layer", {}, 1, kMaxLayers));
  Rotation rotation;
  rotation.dims = json.size("rotary_dim", 64, 2, config.headDim);
  if (json.isNull("rotary_dim")) json.refuse("rotary_dim", "null", "a whole number");
  if (rotation.dims % 2 != 0) json.refuse("rotary_dim", std::to_string(rotation.dims), "an even number");
  rotation.frequencies = ropeFrequencies(rotation.dims, 10000);
  rotation.interleaved = true;
  config.rotations = {rotation};
  for (LayerKind& layer : config.layers) layer.rotation = 0;
}

}  // namespace

constinit const Family families::gptJ{
    .name = "gptj",
    .architecture = "GPTJ",
    .prefixes = kGptJPrefixes,
    .headPrefixes = kNoPrefix,
    .names = {.embedding = "wte",
              .layer = "h.N.",
              .q = "attn.q_proj",
              .k = "attn.k_proj",
              .v = "attn.v_proj",
              .o = "attn.out_proj",
              .up = "mlp.fc_in",
              .down = "mlp.fc_out",
              .attentionNorm = "ln_1",
              .mlpNorm = "ln_1",
              .finalNorm = "ln_f",
              .head = "lm_head"},
    .tied = false,
    .fields = {.read = "n_embd n_inner n_head n_layer n_positions vocab_size activation_function "
                       "layer_norm_epsilon rotary_dim",
               .ignored = "n_ctx rotary summary_type summary_use_proj summary_activation "
                          "summary_proj_to_labels summary_first_dropout",
               .fixed = "scale_attn_weights=true hidden_size=@n_embd num_attention_heads=@n_head "
                        "num_hidden_layers=@n_layer max_position_embeddings=@n_positions",
               .base = &kSharedFields},
    .read = readGptJ,
};

}  // namespace headscope::attention
