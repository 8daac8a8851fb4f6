#pragma once

#include "attention/cache/model_shape.h"
#include "attention/models/config/config_reader.h"

namespace headscope::attention {

/// How a config.json says its weights are kept: quantization_config (awq, gptq, bitsandbytes, fp8, mxfp4,
/// modelopt, compressed-tensors), else torch_dtype. Sets weightFormat and weightBits; what it doesn't know
/// becomes a note.
void readWeightFormat(const ConfigReader& root, const ConfigReader& json, ModelShape& shape);

}  // namespace headscope::attention
