#include <cmath>

#include "attention/models/families/fields.h"

namespace headscope::attention::families {

// ViT (Dosovitskiy et al. 2021) and DeiT (Touvron et al. 2021), which adds a second leading token.

namespace {

constexpr std::string_view kVitPrefixes[] = {"vit.", ""}, kDeitPrefixes[] = {"deit.", ""},
                           kClipPrefixes[] = {"vision_model.", ""}, kDinoPrefixes[] = {"dinov2.", ""},
                           kRegisterPrefixes[] = {"dinov2_with_registers.", ""};

constexpr TensorNames kVitNames{.patches = "embeddings.patch_embeddings.projection",
                                .leadingTokens = {"embeddings.cls_token"},
                                .picturePositions = "embeddings.position_embeddings",
                                .layer = "encoder.layer.N.",
                                .q = "attention.attention.query",
                                .k = "attention.attention.key",
                                .v = "attention.attention.value",
                                .o = "attention.output.dense",
                                .up = "intermediate.dense",
                                .down = "output.dense",
                                .attentionNorm = "layernorm_before",
                                .mlpNorm = "layernorm_after",
                                .finalNorm = "layernorm",
                                .classifier = "classifier"};

/// Reads the sizes under ViT's names, except for the MLP's, which the caller reads.
void readVitSizes(const ConfigReader& json, Index patch, double epsilon, ModelConfig& config) {
  config.modelDim = json.size("hidden_size", 768);
  config.heads = config.kvHeads = json.size("num_attention_heads", 12);
  config.headDim = evenShare(json, "hidden_size", config.modelDim, "num_attention_heads", config.heads);
  config.activation = readActivation(json, "hidden_act", "gelu");
  config.epsilon = json.positive("layer_norm_eps", epsilon);
  config.causal = false;
  config.qkvBias = json.flag("qkv_bias", true);
  config.outputBias = config.mlpBias = true;
  addLayers(config, json.size("num_hidden_layers", 12, 1, kMaxLayers));
  VisionConfig& picture = config.picture.emplace();
  picture.side = json.size("image_size", 224, 1, VisionConfig::kMaxSide);
  picture.patch = json.size("patch_size", patch, 1, picture.side);
  if (picture.grid() * picture.grid() > VisionConfig::kMaxPatches)
    json.refuse("patch_size", std::to_string(picture.patch),
                "patches, of which a picture has at most " + std::to_string(VisionConfig::kMaxPatches));
}

/// Reads a classifier's class names from id2label, else from num_labels: "LABEL_0", …; two if neither is
/// given.
void readClasses(const ConfigReader& json, ModelConfig& config) {
  std::vector<std::string>& classes = config.picture->classes;
  const ConfigReader labels = json.object("id2label");
  const std::vector<std::string> ids = labels.names();
  const Index said = json.size("num_labels", 2, 0, VisionConfig::kMaxClasses);
  classes.resize(ids.empty() ? asSize(said) : ids.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string id = std::to_string(i);
    classes[i] = labels.isText(id) ? labels.text(id, "") : "LABEL_" + id;
  }
}

constexpr ConfigFields kVitFields{
    .ignored = "encoder_stride pooler_output_size pooler_act num_key_value_heads",
    .fixed = "num_channels=3",
    .base = &kSharedFields,
};

void readVit(const ConfigReader& json, ModelConfig& config) {
  readVitSizes(json, 16, 1e-12, config);
  config.innerDim = json.size("intermediate_size", 3072);
  config.picture->processor = "ViT";
  readClasses(json, config);
}

}  // namespace

constinit const Family vit{
    .name = "vit",
    .architecture = "ViT",
    .prefixes = kVitPrefixes,
    .names = kVitNames,
    .encoder = true,
    .fields = {.base = &kVitFields},
    .read = readVit,
};

// Masked Siamese Networks (Assran et al. 2022): ViT, trained otherwise.
constinit const Family vitMsn{
    .name = "vit_msn",
    .architecture = "ViTMSN",
    .prefixes = kVitPrefixes,
    .names = kVitNames,
    .encoder = true,
    .fields = {.base = &kVitFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readVit(json, config);
          config.epsilon = json.positive("layer_norm_eps", 1e-6);
        },
};

constinit const Family deit{
    .name = "deit",
    .architecture = "DeiT",
    .prefixes = kDeitPrefixes,
    .names = changed(kVitNames,
                     [](TensorNames& names) {
                       names.leadingTokens[1] = "embeddings.distillation_token";
                       names.classifiers[0] = "cls_classifier";
                       names.classifiers[1] = "distillation_classifier";
                     }),
    .encoder = true,
    .fields = {.base = &kVitFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readVit(json, config);
          config.picture->leading = 2;
          config.picture->processor = "DeiT";
        },
};

// The vision tower of CLIP (Radford et al. 2021): ViT with a norm before the first layer, patches without a
// bias, and the quick approximation of GELU. transformers' CLIPForImageClassification maps the mean of the
// patches to classes without the final norm.

namespace {

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
    .ignored = "projection_dim initializer_factor logit_scale_init_value",
    .base = &kVitFields,
};
constexpr ConfigFields kClipFields{
    .ignored = "text_config text_config_dict vision_config_dict",
    .base = &kClipVisionFields,
};

void readClipVision(const ConfigReader& json, ModelConfig& config) {
  readVitSizes(json, 32, 1e-5, config);
  config.activation = readActivation(json, "hidden_act", "quick_gelu");
  config.innerDim = json.size("intermediate_size", 3072);
  config.picture->patchBias = false;
  config.picture->processor = "CLIP";
}

}  // namespace

constinit const Family clip{
    .name = "clip",
    .architecture = "CLIP",
    .prefixes = kClipPrefixes,
    .names = kClipNames,
    .encoder = true,
    .nested = "vision_config",
    .fields = {.base = &kClipFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readClipVision(json, config);
          config.notes.emplace_back("This is the vision tower of CLIP. Its text tower is left out.");
        },
    .readRest = readClasses,
};

constinit const Family clipVision{
    .name = "clip_vision_model",
    .architecture = "CLIPVision",
    .prefixes = kClipPrefixes,
    .names = kClipNames,
    .encoder = true,
    .fields = {.base = &kClipVisionFields},
    .read = readClipVision,
};

// The vision tower of SigLIP (Zhai et al. 2023): without a class token, and with biases of the patches. Its
// pooling head isn't computed.

namespace {

void readSiglip(const ConfigReader& json, ModelConfig& config) {
  readVitSizes(json, 16, 1e-6, config);
  config.activation = readActivation(json, "hidden_act", "gelu_pytorch_tanh");
  config.innerDim = json.size("intermediate_size", 3072);
  config.picture->leading = 0;
  config.picture->processor = "Siglip";
}

constexpr Family siglipOf(std::string_view name, std::string_view architecture, std::string_view nested) {
  return {.name = name,
          .architecture = architecture,
          .prefixes = kClipPrefixes,
          .names = changed(kClipNames,
                           [](TensorNames& names) {
                             names.embeddingNorm = names.leadingTokens[0] = names.patchClassifier = {};
                           }),
          .encoder = true,
          .nested = nested,
          .fields = {.ignored = "vision_use_head text_config", .base = &kClipVisionFields},
          .read = readSiglip};
}

}  // namespace

constinit const Family siglip = siglipOf("siglip", "Siglip", "vision_config");
constinit const Family siglipVision = siglipOf("siglip_vision_model", "SiglipVision", {});

// DINOv2 (Oquab et al. 2023): ViT with factors on the outputs of attention and MLP, and positions that are
// interpolated to the picture's size; also with registers, tokens without a position (Darcet et al. 2023).

namespace {

constexpr TensorNames kDinoNames = changed(kVitNames, [](TensorNames& names) {
  names.gateUp = "mlp.weights_in";
  names.down = "mlp.weights_out";
  names.ungatedUp = "mlp.fc1";
  names.ungatedDown = "mlp.fc2";
  names.attentionNorm = "norm1";
  names.mlpNorm = "norm2";
  names.attentionScale = "layer_scale1.lambda1";
  names.mlpScale = "layer_scale2.lambda1";
});

constexpr ConfigFields kDinoFields{
    .ignored =
        "layerscale_value drop_path_rate out_features out_indices stage_names apply_layernorm "
        "reshape_hidden_states use_mask_token",
    .base = &kVitFields,
};

void readDino(const ConfigReader& json, ModelConfig& config) {
  readVitSizes(json, 16, 1e-6, config);
  const double inner = static_cast<double>(config.modelDim) * json.positive("mlp_ratio", 4);
  if (!(inner >= 1 && inner <= static_cast<double>(kMaxConfigSize)))
    json.refuse("mlp_ratio", "out of range",
                "a ratio that gives the MLP 1 to " + std::to_string(kMaxConfigSize) + " rows");
  else
    config.innerDim = static_cast<Index>(inner);
  // SwiGLU (Shazeer 2020), with two thirds as many rows, rounded up to a multiple of 8.
  config.gated = json.flag("use_swiglu_ffn", false);
  if (config.gated) {
    config.innerDim = (config.innerDim * 2 / 3 + 7) / 8 * 8;
    config.activation = Activation::silu;
  }
  readClasses(json, config);
  config.picture->classifiesMean = true;
  config.picture->otherSizes = VisionConfig::OtherSizes::interpolated;
  config.picture->processor = "Bit";
}

}  // namespace

constinit const Family dinov2{
    .name = "dinov2",
    .architecture = "Dinov2",
    .prefixes = kDinoPrefixes,
    .names = kDinoNames,
    .encoder = true,
    .fields = {.base = &kDinoFields},
    .read = readDino,
};

constinit const Family dinov2WithRegisters{
    .name = "dinov2_with_registers",
    .architecture = "Dinov2WithRegisters",
    .prefixes = kRegisterPrefixes,
    .names =
        changed(kDinoNames, [](TensorNames& names) { names.registerTokens = "embeddings.register_tokens"; }),
    .encoder = true,
    .fields = {.base = &kDinoFields},
    .read =
        [](const ConfigReader& json, ModelConfig& config) {
          readDino(json, config);
          config.picture->registers = json.size("num_register_tokens", 4, 0, VisionConfig::kMaxSide);
          config.picture->otherSizes = VisionConfig::OtherSizes::antialiased;
        },
};

}  // namespace headscope::attention::families
