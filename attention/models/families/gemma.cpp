#include <fmt/core.h>

#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/families/fields.h"

namespace headscope::attention::families {

namespace {

/// Gemma 2 and 3: a norm before and after each part.
constexpr TensorNames kGemmaNames = changed(kLlamaNames, [](TensorNames& names) {
  names.afterAttentionNorm = "post_attention_layernorm";
  names.mlpNorm = "pre_feedforward_layernorm";
  names.afterMlpNorm = "post_feedforward_layernorm";
});

/// Gemma 2 and 3 read only hidden_activation. Gemma's code did so before transformers 4.48 and has read
/// hidden_act since.
void readGemmaActivation(const ConfigReader& json, ModelConfig& config) {
  constexpr std::string_view kNew = "hidden_activation", kOld = "hidden_act", kStandard = "gelu_pytorch_tanh";
  const bool readsOld = config.family == &gemma && !json.has(kNew);
  config.activation = readActivation(json, readsOld ? kOld : kNew, kStandard);
  if (readsOld || readActivation(json, kOld, json.text(kNew, kStandard)) == config.activation) return;
  config.notes.push_back(
      fmt::format("config.json says {} for hidden_act, {} for hidden_activation: the latter counts.",
                  quotedText(json.text(kOld, "")), quotedText(json.text(kNew, kStandard))));
}

/// Reads what Gemma 1, 2 and 3 share: Llama's sizes, a separate head size, norms with 1 + w, embeddings times
/// √d. Bidirectional if use_bidirectional_attention is true.
void readGemmaSizes(const ConfigReader& json, ModelConfig& config, const LlamaDefaults& defaults) {
  readLlamaSizes(json, config, defaults);
  readGemmaActivation(json, config);
  config.normPlusOne = true;
  config.embeddingScale = static_cast<float>(std::sqrt(static_cast<double>(config.modelDim)));
  config.qkvBias = config.outputBias = json.flag("attention_bias", false);
  config.causal = !json.flag("use_bidirectional_attention", false);
}

std::optional<float> readCap(const ConfigReader& json, std::string_view key, double defaultValue) {
  if (json.isNull(key)) return std::nullopt;
  return static_cast<float>(json.positive(key, defaultValue));
}

}  // namespace

// Gemma (Gemma Team 2024): Llama with 1 + w in its norms, embeddings times √d, and GELU.

constinit const Family gemma{
    .name = "gemma",
    .architecture = "Gemma",
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readGemmaSizes(json, config, {.positions = 8192, .kvHeads = 16, .headDim = 256});
          readRotation(json, {}, config);
        },
};

// Gemma 2 (Gemma Team 2024): norms before and after each part, soft-caps on scores and logits, a window on
// every other layer.

namespace {

void readCapped(const ConfigReader& json, ModelConfig& config) {
  readGemmaSizes(json, config, {.positions = 8192, .kvHeads = 4, .headDim = 256});
  const double scalar = json.positive("query_pre_attn_scalar", 256);
  for (LayerKind& layer : config.layers) layer.scale = static_cast<float>(1 / std::sqrt(scalar));
  config.softcap = readCap(json, "attn_logit_softcapping", 50);
  config.finalSoftcap = readCap(json, "final_logit_softcapping", 30);
  readRotation(json, {}, config);
  readWindows(json, readWindow(json, 4096), everyOther, 0, config);
}

}  // namespace

constinit const Family gemma2{
    .name = "gemma2",
    .architecture = "Gemma2",
    .names = kGemmaNames,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readCapped(json, config);
          config.order = BlockOrder::around;
        },
};

// VaultGemma (VaultGemma Team 2025): Gemma 2 without the norms after each part.

constinit const Family vaultGemma{
    .name = "vaultgemma",
    .architecture = "VaultGemma",
    .names = changed(kLlamaNames, [](TensorNames& names) { names.mlpNorm = "pre_feedforward_layernorm"; }),
    .fields = {.fixed = "use_bidirectional_attention=false", .base = &kLlamaFields},
    .read = readCapped,
};

// Gemma 3's text model (Gemma Team 2025): Gemma 2 without caps but with norms on queries and keys; for each
// full layer there are five with a window and another rotation.

namespace {

constexpr std::string_view kGemma3Prefixes[] = {"language_model.model.", "model.language_model.", "model.",
                                                ""};
constexpr std::string_view kHeadPrefixes[] = {"", "language_model."};

void readText(const ConfigReader& json, ModelConfig& config) {
  readGemmaSizes(json, config,
                 {.positions = 131072, .heads = 8, .vocabulary = 262208, .kvHeads = 4, .headDim = 256});
  config.order = BlockOrder::around;
  config.qkNorm = QkNorm::head;
  const double scalar = json.positive("query_pre_attn_scalar", 256);
  for (LayerKind& layer : config.layers) layer.scale = static_cast<float>(1 / std::sqrt(scalar));
  if (json.has("final_logit_softcapping"))
    config.finalSoftcap = static_cast<float>(json.positive("final_logit_softcapping"));
  // A bidirectional window is as wide in total as a causal one, half on each side: |i − j| < W/2 + 1
  // (Gemma3TextConfig and _bidirectional_window_overlay of transformers).
  auto window = readWindow(json, 4096);
  if (window && !config.causal) window = *window / 2 + 1;
  readWindows(json, window, allButEvery, json.size("sliding_window_pattern", 6, 1, kMaxLayers), config);
  readRotations(json, {.theta = 1e6}, json.positive("rope_local_base_freq", 1e4), config);
}

// The published code has a cap on scores but doesn't apply it.
constexpr std::string_view kFixed = "attn_logit_softcapping=null";

}  // namespace

constinit const Family gemma3Text{
    .name = "gemma3_text",
    .architecture = "Gemma3",
    .prefixes = kGemma3Prefixes,
    .headPrefixes = kHeadPrefixes,
    .names = withHeadNorms(kGemmaNames),
    .fields = {.ignored = "_sliding_window_pattern", .fixed = kFixed, .base = &kLlamaFields},
    .read = readText,
};

constinit const Family gemma3{
    .name = "gemma3",
    .architecture = "Gemma3ForConditionalGeneration",
    .prefixes = kGemma3Prefixes,
    .headPrefixes = kHeadPrefixes,
    .names = withHeadNorms(kGemmaNames),
    .nested = "text_config",
    .fields = {.ignored = "_sliding_window_pattern vision_config mm_tokens_per_image boi_token_index "
                          "eoi_token_index image_token_index boi_token_id eoi_token_id image_token_id "
                          "vision_start_token_id",
               .fixed = kFixed,
               .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          config.notes.emplace_back("The vision part of the model isn't loaded.");
          readText(json, config);
        },
};

}  // namespace headscope::attention::families
