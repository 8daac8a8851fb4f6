#include <cmath>

#include "attention/models/families/gemma.h"

// Gemma 3's text model (Gemma Team 2025): Gemma 2 without caps, with norms on queries and keys; five layers
// with a window and a rotation of their own for each without.

namespace headscope::attention {
namespace {

constexpr std::string_view kGemma3Prefixes[] = {"language_model.model.", "model.language_model.", "model.",
                                                ""};
constexpr std::string_view kHeadPrefixes[] = {"", "language_model."};

/// rotations[0] for full layers, [1] for those with a window. Newer files nest one set of fields per kind.
void readRotations(const ConfigReader& json, ModelConfig& config) {
  const double global = json.positive("rope_theta", 1e6), local = json.positive("rope_local_base_freq", 1e4);
  const ConfigReader nested = json.object("rope_parameters");
  if (nested.has("full_attention") || nested.has("sliding_attention")) {
    config.rotations = {families::rotationOf(json, nested.object("full_attention"), global, 1, config),
                        families::rotationOf(json, nested.object("sliding_attention"), local, 1, config)};
  } else {
    families::readRotation(json, {.theta = 1e6}, config);
    const ConfigReader unscaled = json.object("rope_local");  // there is none
    config.rotations.push_back(families::rotationOf(json, unscaled, local, 1, config));
  }
  for (LayerKind& layer : config.layers) layer.rotation = layer.window ? 1 : 0;
}

void readText(const ConfigReader& json, ModelConfig& config) {
  families::readGemmaSizes(json, config, {.heads = 8, .vocabulary = 262208, .kvHeads = 4, .headDim = 256});
  config.order = BlockOrder::around;
  config.qkNorm = true;
  const double scalar = json.positive("query_pre_attn_scalar", 256);
  for (LayerKind& layer : config.layers) layer.scale = static_cast<float>(1 / std::sqrt(scalar));
  if (json.has("attn_logit_softcapping"))
    config.softcap = static_cast<float>(json.positive("attn_logit_softcapping"));
  if (json.has("final_logit_softcapping"))
    config.finalSoftcap = static_cast<float>(json.positive("final_logit_softcapping"));
  families::readWindows(
      json, json.size("sliding_window", 4096, 1, kMaxPositions),
      [](Index layer, Index pattern) { return (layer + 1) % pattern != 0; },
      json.size("sliding_window_pattern", 6, 1, kMaxLayers), config);
  readRotations(json, config);
}

void readWithPictures(const ConfigReader& json, ModelConfig& config) {
  constexpr std::string_view kNote = "The part of the model that looks at pictures is left out.";
  config.notes.emplace_back(kNote);
  readText(json.object("text_config"), config);
}

}  // namespace

constinit const Family families::gemma3Text{
    .name = "gemma3_text",
    .architecture = "Gemma3",
    .prefixes = kGemma3Prefixes,
    .headPrefixes = kHeadPrefixes,
    .names = families::withHeadNorms(kGemmaNames),
    .read = readText,
};

constinit const Family families::gemma3{
    .name = "gemma3",
    .architecture = "Gemma3ForConditionalGeneration",
    .prefixes = kGemma3Prefixes,
    .headPrefixes = kHeadPrefixes,
    .names = families::withHeadNorms(kGemmaNames),
    .read = readWithPictures,
};

}  // namespace headscope::attention
