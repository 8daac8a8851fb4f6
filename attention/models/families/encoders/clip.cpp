#include "attention/models/families/encoders/vit.h"

// The vision tower of CLIP (Radford et al. 2021): ViT with a norm before the first layer, patches without a
// bias, and the quick approximation of GELU. transformers' CLIPForImageClassification maps the mean of the
// patches to classes without the final norm.

namespace headscope::attention {
namespace {

constexpr std::string_view kClipPrefixes[] = {"vision_model.", ""};

constexpr TensorNames kClipNames{.embeddingNorm = "pre_layrnorm",
                                 .patches = "embeddings.patch_embedding",
                                 .leadingTokens = {"embeddings.class_embedding"},
                                 .picturePositions = "embeddings.position_embedding.weight",
                                 .layer = "encoder.layers.N.",
                                 .q = "self_attn.q_proj",
                                 .k = "self_attn.k_proj",
                                 .v = "self_attn.v_proj",
                                 .o = "self_attn.out_proj",
                                 .up = "mlp.fc1",
                                 .down = "mlp.fc2",
                                 .attentionNorm = "layer_norm1",
                                 .mlpNorm = "layer_norm2",
                                 .finalNorm = "post_layernorm",
                                 .patchClassifier = "classifier"};

constexpr ConfigFields kClipVisionFields{
    .read = "intermediate_size",
    .ignored = "projection_dim initializer_factor logit_scale_init_value",
    .base = &families::kVitFields,
};
constexpr ConfigFields kClipFields{
    .ignored = "text_config text_config_dict vision_config_dict",
    .base = &kClipVisionFields,
};

void readClipVision(const ConfigReader& json, ModelConfig& config) {
  families::readVitSizes(json, 32, 1e-5, config);
  config.activation = families::readActivation(json, "hidden_act", "quick_gelu");
  config.innerDim = json.size("intermediate_size", 3072);
  config.picture->patchBias = false;
  config.picture->processor = "CLIP";
}

void readClip(const ConfigReader& json, ModelConfig& config) {
  readClipVision(json, config);
  config.notes.emplace_back("This is the vision tower of CLIP. Its text tower is left out.");
}

}  // namespace

constinit const Family families::clip{
    .name = "clip",
    .architecture = "CLIP",
    .prefixes = kClipPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kClipNames,
    .encoder = true,
    .nested = "vision_config",
    .fields = {.base = &kClipFields},
    .read = readClip,
    .readRest = families::readClasses,
};

constinit const Family families::clipVision{
    .name = "clip_vision_model",
    .architecture = "CLIPVision",
    .prefixes = kClipPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kClipNames,
    .encoder = true,
    .fields = {.base = &kClipVisionFields},
    .read = readClipVision,
};

}  // namespace headscope::attention
