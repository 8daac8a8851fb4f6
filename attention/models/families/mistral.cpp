#include "attention/models/families/fields.h"

// Mistral (Jiang et al. 2023): Llama with a window on all layers.

namespace headscope::attention {
namespace {

void readMistral(const ConfigReader& json, ModelConfig& config) {
  families::readLlamaSizes(json, config, {.kvHeads = 8});
  families::readRotation(json, {}, config);
  // Absent means 4096, null none.
  const auto window = json.isNull("sliding_window")
                          ? std::nullopt
                          : std::optional(json.size("sliding_window", 4096, 1, kMaxPositions));
  for (LayerKind& layer : config.layers) layer.window = window;
}

}  // namespace

constinit const Family families::mistral{
    .name = "mistral",
    .architecture = "Mistral",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kLlamaNames,
    .read = readMistral,
};

}  // namespace headscope::attention
