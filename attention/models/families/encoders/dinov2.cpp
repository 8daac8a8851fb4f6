#include <cmath>

#include "attention/models/families/encoders/vit.h"

// DINOv2 (Oquab et al. 2023): ViT with factors on the outputs of attention and MLP, and positions that are
// interpolated to the picture's size; also with registers, tokens without a position (Darcet et al. 2023).

namespace headscope::attention {
namespace {

constexpr std::string_view kDinoPrefixes[] = {"dinov2.", ""},
                           kRegisterPrefixes[] = {"dinov2_with_registers.", ""};

constexpr TensorNames kDinoNames = [] {
  TensorNames names = families::kVitNames;
  names.gateUp = "mlp.weights_in";
  names.down = "mlp.weights_out";
  names.ungatedUp = "mlp.fc1";
  names.ungatedDown = "mlp.fc2";
  names.attentionNorm = "norm1";
  names.mlpNorm = "norm2";
  names.attentionScale = "layer_scale1.lambda1";
  names.mlpScale = "layer_scale2.lambda1";
  return names;
}();

constexpr TensorNames kRegisterNames = [] {
  TensorNames names = kDinoNames;
  names.registerTokens = "embeddings.register_tokens";
  return names;
}();

constexpr ConfigFields kDinoFields{
    .read = "mlp_ratio use_swiglu_ffn id2label num_labels",
    .ignored =
        "layerscale_value drop_path_rate out_features out_indices stage_names apply_layernorm "
        "reshape_hidden_states use_mask_token",
    .base = &families::kVitFields,
};
constexpr ConfigFields kRegisterFields{.read = "num_register_tokens", .base = &kDinoFields};

void readDino(const ConfigReader& json, ModelConfig& config) {
  families::readVitSizes(json, 16, 1e-6, config);
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
  families::readClasses(json, config);
  config.picture->classifiesMean = true;
  config.picture->otherSizes = VisionConfig::OtherSizes::interpolated;
  config.picture->processor = "Bit";
}

void readRegisters(const ConfigReader& json, ModelConfig& config) {
  readDino(json, config);
  config.picture->registers = json.size("num_register_tokens", 4, 0, VisionConfig::kMaxSide);
  config.picture->otherSizes = VisionConfig::OtherSizes::antialiased;
}

}  // namespace

constinit const Family families::dinov2{
    .name = "dinov2",
    .architecture = "Dinov2",
    .prefixes = kDinoPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kDinoNames,
    .encoder = true,
    .fields = {.base = &kDinoFields},
    .read = readDino,
};

constinit const Family families::dinov2WithRegisters{
    .name = "dinov2_with_registers",
    .architecture = "Dinov2WithRegisters",
    .prefixes = kRegisterPrefixes,
    .headPrefixes = kNoPrefix,
    .names = kRegisterNames,
    .encoder = true,
    .fields = {.base = &kRegisterFields},
    .read = readRegisters,
};

}  // namespace headscope::attention
