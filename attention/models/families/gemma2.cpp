#include <cmath>

#include "attention/models/families/gemma.h"

// Gemma 2 (Gemma Team 2024): norms before and after each part, soft-caps on scores and logits, a window on
// every other layer.

namespace headscope::attention {
namespace {

std::optional<float> readCap(const ConfigReader& json, std::string_view key, double defaultValue) {
  if (json.isNull(key)) return std::nullopt;
  return static_cast<float>(json.positive(key, defaultValue));
}

void readGemma2(const ConfigReader& json, ModelConfig& config) {
  families::readGemmaSizes(json, config, {.positions = 8192, .kvHeads = 4, .headDim = 256});
  config.order = BlockOrder::around;
  const double scalar = json.positive("query_pre_attn_scalar", 256);
  for (LayerKind& layer : config.layers) layer.scale = static_cast<float>(1 / std::sqrt(scalar));
  config.softcap = readCap(json, "attn_logit_softcapping", 50);
  config.finalSoftcap = readCap(json, "final_logit_softcapping", 30);
  families::readRotation(json, {}, config);
  families::readWindows(
      json, families::readWindow(json, 4096), [](Index layer, Index) { return layer % 2 == 0; }, 0, config);
}

}  // namespace

constinit const Family families::gemma2{
    .name = "gemma2",
    .architecture = "Gemma2",
    .prefixes = kLlamaPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kGemmaNames,
    .fields = {.read = "query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping sliding_window "
                       "layer_types",
               .base = &kGemmaFields},
    .read = readGemma2,
};

}  // namespace headscope::attention
