#pragma once

#include "attention/cache/model_shape.h"
#include "attention/models/config/config_reader.h"

namespace headscope::attention {

/// Reads how the weights of a config.json are stored: from quantization_config (awq, gptq, bitsandbytes, fp8,
/// mxfp4, modelopt, compressed-tensors), else from torch_dtype. Sets weightFormat and weightBits; an unknown
/// method becomes a note.
void readWeightFormat(const ConfigReader& root, const ConfigReader& json, ModelShape& shape);

}  // namespace headscope::attention
