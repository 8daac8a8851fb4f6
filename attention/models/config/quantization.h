#pragma once

#include <string_view>

#include "attention/cache/model_shape.h"
#include "attention/models/config/config_reader.h"

namespace headscope::attention {

/// Reads how the weights of a config.json are stored, from quantization_config or MLX's quantization, else
/// from torch_dtype, into shape.weights. Reads shape.experts. An unknown method becomes a note. How that note
/// ends, before the format in which weights are counted.
inline constexpr std::string_view kCountedInstead = ": weights are counted in ";
void readWeightFormat(const ConfigReader& root, const ConfigReader& json, ModelShape& shape);

}  // namespace headscope::attention
