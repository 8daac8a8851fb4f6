#include <algorithm>

#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

// GPT-Neo (Black et al. 2021): GPT-2 with a window on every other layer, and unscaled scores.

namespace headscope::attention {
namespace {

constexpr std::string_view kGptNeoPrefixes[] = {"transformer.", ""};

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

void readGptNeo(const ConfigReader& json, ModelConfig& config) {
  config.modelDim = json.size("hidden_size");
  config.innerDim = json.size("intermediate_size", std::min(4 * config.modelDim, kMaxConfigSize));
  config.vocabulary = json.size("vocab_size");
  config.heads = config.kvHeads = json.size("num_heads");
  config.headDim = families::evenShare(json, "hidden_size", config.modelDim, "num_heads", config.heads);
  config.positionRows = config.maxPositions = json.size("max_position_embeddings", 2048);
  config.activation = families::readActivation(json, "activation_function", "gelu_new");
  config.epsilon = json.positive("layer_norm_epsilon", 1e-5);
  config.outputBias = config.mlpBias = true;
  families::addLayers(config, json.size("num_layers", {}, 1, kMaxLayers));
  readLocalLayers(json, config);
}

}  // namespace

constinit const Family families::gptNeo{
    .name = "gpt_neo",
    .architecture = "GPTNeo",
    .prefixes = kGptNeoPrefixes,
    .headPrefixes = kNoPrefix,
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
    .fields = {.read =
                   "hidden_size intermediate_size vocab_size num_heads num_layers max_position_embeddings "
                   "activation_function layer_norm_epsilon window_size attention_layers attention_types",
               .ignored = "resid_dropout embed_dropout summary_type summary_use_proj "
                          "summary_activation summary_proj_to_labels summary_first_dropout",
               .fixed = "num_attention_heads=@num_heads num_hidden_layers=@num_layers",
               .base = &kSharedFields},
    .read = readGptNeo,
};

}  // namespace headscope::attention
