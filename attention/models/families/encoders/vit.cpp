#include "attention/models/families/encoders/vit.h"

// ViT (Dosovitskiy et al. 2021) and DeiT (Touvron et al. 2021), which adds a second leading token.

namespace headscope::attention {

void families::readVitSizes(const ConfigReader& json, Index patch, double epsilon, ModelConfig& config) {
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

void families::readClasses(const ConfigReader& json, ModelConfig& config) {
  std::vector<std::string>& classes = config.picture->classes;
  const ConfigReader labels = json.object("id2label");
  const std::vector<std::string> ids = labels.names();
  const Index said = json.size("num_labels", 2, 0);
  classes.resize(ids.empty() ? asSize(said) : ids.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string id = std::to_string(i);
    classes[i] = labels.isText(id) ? labels.text(id, "") : "LABEL_" + id;
  }
}

constinit const ConfigFields families::kVitFields{
    .read =
        "hidden_size num_hidden_layers num_attention_heads hidden_act layer_norm_eps qkv_bias image_size "
        "patch_size",
    .ignored = "encoder_stride pooler_output_size pooler_act num_key_value_heads",
    .fixed = "num_channels=3",
    .base = &kSharedFields,
};

namespace {

constexpr ConfigFields kOwnVitFields{.read = "intermediate_size id2label num_labels",
                                     .base = &families::kVitFields};
constexpr std::string_view kVitPrefixes[] = {"vit.", ""}, kDeitPrefixes[] = {"deit.", ""};

void readVit(const ConfigReader& json, ModelConfig& config) {
  families::readVitSizes(json, 16, 1e-12, config);
  config.innerDim = json.size("intermediate_size", 3072);
  config.picture->processor = "ViT";
  families::readClasses(json, config);
}

void readDeit(const ConfigReader& json, ModelConfig& config) {
  readVit(json, config);
  config.picture->leading = 2;
  config.picture->processor = "DeiT";
}

constexpr TensorNames kDeitNames = [] {
  TensorNames names = families::kVitNames;
  names.leadingTokens[1] = "embeddings.distillation_token";
  names.classifiers[0] = "cls_classifier";
  names.classifiers[1] = "distillation_classifier";
  return names;
}();

}  // namespace

constinit const Family families::vit{
    .name = "vit",
    .architecture = "ViT",
    .prefixes = kVitPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kVitNames,
    .encoder = true,
    .fields = {.base = &kOwnVitFields},
    .read = readVit,
};

constinit const Family families::deit{
    .name = "deit",
    .architecture = "DeiT",
    .prefixes = kDeitPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kDeitNames,
    .encoder = true,
    .fields = {.base = &kOwnVitFields},
    .read = readDeit,
};

}  // namespace headscope::attention
