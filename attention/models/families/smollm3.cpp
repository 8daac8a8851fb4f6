#include <fmt/core.h>

#include "attention/models/families/fields.h"

// SmolLM3 (Hugging Face 2025): Llama without rotary positions in every fourth layer.

namespace headscope::attention {
namespace {

/// no_rope_layers has 1 for each rotated layer; if absent, all but every no_rope_layer_interval-th are
/// rotated.
void readUnrotated(const ConfigReader& json, ModelConfig& config) {
  const Index interval = json.size("no_rope_layer_interval", 4, 1, kMaxLayers);
  const std::vector<Index> said = json.tokens("no_rope_layers");
  if (!said.empty() && std::ssize(said) != config.layerCount())
    return json.refuse("no_rope_layers", fmt::format("a list of {}", said.size()),
                       fmt::format("one for each of the {} layers", config.layerCount()));
  for (Index i = 0; i < config.layerCount(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (said.empty() ? (i + 1) % interval == 0 : said[at] == 0) config.layers[at].rotation.reset();
  }
}

/// Layers named in layer_types have a window whatever use_sliding_window says; without the list, it gives one
/// to the unrotated layers (SmolLM3Config of transformers).
void readSmolWindows(const ConfigReader& json, ModelConfig& config) {
  const auto window = json.optionalSize("sliding_window", 1, kMaxPositions);
  const bool slides = json.flag("use_sliding_window", false);
  if (json.has("layer_types"))
    return families::readWindows(
        json, window, [](Index, Index) { return false; }, 0, config);
  for (LayerKind& layer : config.layers)
    if (slides && !layer.rotation) layer.window = window;
}

void readSmolLm3(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.positions = 32768, .kvHeads = 4});
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.mlpBias = json.flag("mlp_bias", false);
  families::readRotation(json, {.theta = 2e6}, config);
  readUnrotated(json, config);
  readSmolWindows(json, config);
}

}  // namespace

constinit const Family families::smollm3{
    .name = "smollm3",
    .architecture = "SmolLM3",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .fields = {.read = "attention_bias mlp_bias no_rope_layers no_rope_layer_interval use_sliding_window "
                       "sliding_window layer_types",
               .ignored = "max_window_layers",
               .base = &kLlamaFields},
    .read = readSmolLm3,
};

}  // namespace headscope::attention
