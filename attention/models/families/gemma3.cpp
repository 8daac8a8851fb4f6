#include <cmath>

#include "attention/models/families/gemma.h"

// Gemma 3's text model (Gemma Team 2025): Gemma 2 without caps but with norms on queries and keys; for each
// full layer there are five with a window and another rotation.

namespace headscope::attention {
namespace {

constexpr std::string_view kGemma3Prefixes[] = {"language_model.model.", "model.language_model.", "model.",
                                                ""};
constexpr std::string_view kHeadPrefixes[] = {"", "language_model."};

void readText(const ConfigReader& json, ModelConfig& config) {
  families::readGemmaSizes(
      json, config, {.positions = 131072, .heads = 8, .vocabulary = 262208, .kvHeads = 4, .headDim = 256});
  config.order = BlockOrder::around;
  config.qkNorm = QkNorm::head;
  const double scalar = json.positive("query_pre_attn_scalar", 256);
  for (LayerKind& layer : config.layers) layer.scale = static_cast<float>(1 / std::sqrt(scalar));
  if (json.has("final_logit_softcapping"))
    config.finalSoftcap = static_cast<float>(json.positive("final_logit_softcapping"));
  // A bidirectional window is as wide in total as a causal one, half on each side: |i − j| < W/2 + 1
  // (Gemma3TextConfig and _bidirectional_window_overlay of transformers).
  auto window = families::readWindow(json, 4096);
  if (window && !config.causal) window = *window / 2 + 1;
  families::readWindows(
      json, window, [](Index layer, Index pattern) { return (layer + 1) % pattern != 0; },
      json.size("sliding_window_pattern", 6, 1, kMaxLayers), config);
  families::readRotations(json, {.theta = 1e6}, json.positive("rope_local_base_freq", 1e4), config);
}

void readWithPictures(const ConfigReader& json, ModelConfig& config) {
  constexpr std::string_view kNote = "The vision part of the model isn't loaded.";
  config.notes.emplace_back(kNote);
  readText(json, config);
}

constexpr std::string_view kRead =
    "query_pre_attn_scalar final_logit_softcapping sliding_window sliding_window_pattern layer_types "
    "rope_local_base_freq";
// The published code has a cap on scores but doesn't apply it.
constexpr std::string_view kFixed = "attn_logit_softcapping=null";

}  // namespace

constinit const Family families::gemma3Text{
    .name = "gemma3_text",
    .architecture = "Gemma3",
    .prefixes = kGemma3Prefixes,
    .headPrefixes = kHeadPrefixes,
    .names = families::withHeadNorms(kGemmaNames),
    .fields = {.read = kRead, .ignored = "_sliding_window_pattern", .fixed = kFixed, .base = &kGemmaFields},
    .read = readText,
};

constinit const Family families::gemma3{
    .name = "gemma3",
    .architecture = "Gemma3ForConditionalGeneration",
    .prefixes = kGemma3Prefixes,
    .headPrefixes = kHeadPrefixes,
    .names = families::withHeadNorms(kGemmaNames),
    .nested = "text_config",
    .fields = {.read = kRead,
               .ignored = "_sliding_window_pattern vision_config mm_tokens_per_image boi_token_index "
                          "eoi_token_index image_token_index boi_token_id eoi_token_id image_token_id "
                          "vision_start_token_id",
               .fixed = kFixed,
               .base = &kGemmaFields},
    .read = readWithPictures,
};

}  // namespace headscope::attention
