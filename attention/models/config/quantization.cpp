#include "attention/models/config/quantization.h"

#include <fmt/core.h>

#include <algorithm>

#include "attention/formats/quote.h"

namespace headscope::attention {

namespace {

/// Bits per weight, including each group's 16-bit scale and zero point; a group of -1 is a whole row.
double bitsWithGroups(const ConfigReader& json, Index bits) {
  const std::vector<Index> group = json.tokens("group_size");  // -1 is left out
  return static_cast<double>(bits) + (group.empty() || group[0] == 0
                                          ? 0
                                          : static_cast<double>(16 + bits) / static_cast<double>(group[0]));
}

void readGroups(const ConfigReader& json, ModelShape& shape, WeightFormat format) {
  const Index bits = json.size(json.has("bits") ? "bits" : "w_bit", 4, 1, 16);
  shape.weightFormat = format;
  shape.weightBits = bitsWithGroups(json, bits);
}

/// compressed-tensors: groups of layers with their weight bits; the first group counts.
bool readCompressed(const ConfigReader& json, ModelShape& shape) {
  const ConfigReader groups = json.object("config_groups");
  for (const std::string& name : groups.names()) {
    const ConfigReader weights = groups.object(name).object("weights");
    const Index bits = weights.size("num_bits", 8, 1, 16);
    const bool floats = weights.text("type", "int") == "float";
    shape.weightFormat = floats ? (bits == 8 ? WeightFormat::fp8 : WeightFormat::nvfp4)
                                : (bits == 8 ? WeightFormat::int8 : WeightFormat::gptq);
    if (bits < 8) shape.weightBits = bitsWithGroups(weights, bits);
    return true;
  }
  return false;
}

bool readQuantization(const ConfigReader& json, ModelShape& shape) {
  const std::string method = json.text("quant_method", "");
  if (method == "awq" || method == "gptq")
    return readGroups(json, shape, method == "awq" ? WeightFormat::awq : WeightFormat::gptq), true;
  if (method == "fp8" || method == "fbgemm_fp8") return shape.weightFormat = WeightFormat::fp8, true;
  if (method == "mxfp4") return shape.weightFormat = WeightFormat::mxfp4, true;
  if (method == "compressed-tensors") return readCompressed(json, shape);
  if (method == "modelopt") {
    const std::string algorithm = json.text("quant_algo", "FP8");
    shape.weightFormat = algorithm == "NVFP4" ? WeightFormat::nvfp4 : WeightFormat::fp8;
    return algorithm == "NVFP4" || algorithm == "FP8";
  }
  if (method == "bitsandbytes" || json.has("load_in_4bit") || json.has("load_in_8bit")) {
    shape.weightFormat = json.flag("load_in_4bit", false) ? WeightFormat::nf4 : WeightFormat::int8;
    if (shape.weightFormat == WeightFormat::nf4 && !json.flag("bnb_4bit_use_double_quant", false))
      shape.weightBits = 4.5;  // a 32-bit scale per 64 weights
    return true;
  }
  return false;
}

}  // namespace

void readWeightFormat(const ConfigReader& root, const ConfigReader& json, ModelShape& shape) {
  const std::string type = json.text(json.has("dtype") ? "dtype" : "torch_dtype",
                                     root.text(root.has("dtype") ? "dtype" : "torch_dtype", "bfloat16"));
  shape.weightFormat = type == "float32"   ? WeightFormat::fp32
                       : type == "float16" ? WeightFormat::fp16
                                           : WeightFormat::bf16;
  for (const char* key : {"quantization_config", "compression_config"}) {
    const ConfigReader& holds = root.has(key) ? root : json;
    if (!holds.has(key)) continue;
    const ConfigReader quantization = holds.object(key);
    if (!readQuantization(quantization, shape))
      shape.notes.push_back(fmt::format("its {} ({}) is not known: weights are counted in {}", key,
                                        quotedText(quantization.text("quant_method", "")),
                                        rowOf(shape.weightFormat).name));
    return;
  }
}

}  // namespace headscope::attention
