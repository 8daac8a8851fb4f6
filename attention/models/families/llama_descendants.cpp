#include <cmath>

#include "attention/models/families/fields.h"

// Llama under other names, and the text parts of multimodal models.

namespace headscope::attention::families {
namespace {

// EXAONE 3 (LG AI Research 2024): Llama with GPT-2's names.
constexpr Family kExaone{
    .name = "exaone",
    .architecture = "Exaone",
    .prefixes = kTransformerPrefixes,
    .names = {.embedding = "wte",
              .layer = "h.N.",
              .q = "attn.attention.q_proj",
              .k = "attn.attention.k_proj",
              .v = "attn.attention.v_proj",
              .o = "attn.attention.out_proj",
              .up = "mlp.c_fc_1",
              .down = "mlp.c_proj",
              .gate = "mlp.c_fc_0",
              .attentionNorm = "ln_1",
              .mlpNorm = "ln_2",
              .finalNorm = "ln_f",
              .head = "lm_head"},
    .tied = false,
    .fields = {.ignored = "embed_dropout", .base = &kLlamaFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          ConfigReader file = json;  // the first published files have these names
          if (const auto layers = json.optionalSize("num_layers", 1, kMaxLayers))
            file.addDefaults("{\"num_hidden_layers\": " + std::to_string(*layers) + "}");
          readLlama(json, config, {.positions = 4096, .kvHeads = 8, .epsilon = 1e-5, .attentionBias = false},
                    {.theta = 500000});
          config.epsilon = json.positive("layer_norm_epsilon", config.epsilon);
          config.mlpBias = json.flag("mlp_bias", false);
          if (json.has("activation_function"))
            config.activation = readActivation(json, "activation_function", "silu");
        },
};

// HyperCLOVA X (Naver 2025): Granite, which may also have norms after each part.
constexpr TensorNames kHyperClovaNames = changed(kLlamaNames, [](TensorNames& names) {
  names.afterAttentionNorm = "post_norm1";
  names.afterMlpNorm = "post_norm2";
});

void readHyperClova(const ConfigReader& json, ModelConfig& config);

constexpr Family hyperClovaWith(const TensorNames& names) {
  return {.name = "hyperclovax",
          .architecture = "HyperCLOVAX",
          .names = names,
          .tied = false,
          .fields = {.ignored = "resid_pdrop", .base = &kLlamaFields},
          .read = readHyperClova};
}
constexpr Family kHyperClovaOneNorm = hyperClovaWith(kLlamaNames);

void readHyperClova(const ConfigReader& json, ModelConfig& config) {
  readLlama(json, config, {.positions = 2048, .attentionBias = false});
  const float scale = config.layers[0].scale;
  readGraniteFactors(json, config);
  config.logitScale = static_cast<float>(json.positive("logits_scaling", 1));  // Granite divides by it
  if (!json.has("attention_multiplier"))
    for (LayerKind& layer : config.layers) layer.scale = scale;
  config.mlpBias = json.flag("mlp_bias", false);
  if (json.flag("use_post_norm", true))
    config.order = BlockOrder::around;
  else
    config.family = &kHyperClovaOneNorm;
}

// Qwen2-VL and Qwen2.5-VL (Wang et al. 2024; Bai et al. 2025): Qwen 2. Qwen3-VL (Qwen Team 2025): Qwen 3.
constexpr ConfigFields kQwenFields{
    .ignored =
        "vision_config image_token_id video_token_id vision_start_token_id vision_end_token_id "
        "vision_token_id",
    .base = &kLlamaFields};

void readQwenText(const ConfigReader& json, ModelConfig& config) {
  readLlama(json, config, {.positions = 32768, .kvHeads = 8, .epsilon = 1e-5}, {.theta = 1e6});
  config.qkvBias = true;
  readQwenWindows(json, config, 80);
}

constexpr Family kQwen2VlText{
    .name = "qwen2_vl_text",
    .architecture = "Qwen2VLTextModel",
    .tied = false,
    .aliases = "qwen2_5_vl_text",
    .fields = kQwenFields,
    .read = readQwenText,
};

constexpr Family kQwen3VlText{
    .name = "qwen3_vl_text",
    .architecture = "Qwen3VLTextModel",
    .names = withHeadNorms(kLlamaNames),
    .tied = false,
    .fields = kQwenFields,
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readLlama(json, config,
                    {.positions = 128000, .kvHeads = 32, .headDim = 128, .attentionBias = false},
                    {.theta = 500000});
          config.qkNorm = QkNorm::head;
        },
};

constexpr Family kLlamaDescendants[] = {kExaone, hyperClovaWith(kHyperClovaNames), kQwen2VlText,
                                        kQwen3VlText};

}  // namespace

std::span<const Family> llamaDescendants() {
  return kLlamaDescendants;
}

}  // namespace headscope::attention::families
