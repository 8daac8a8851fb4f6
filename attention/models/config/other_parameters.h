#pragma once

#include <cstdint>
#include <string>

#include "attention/cache/model_shape.h"
#include "attention/models/config/config_reader.h"
#include "attention/models/config/model_types.h"

namespace headscope::attention {

/// The class that saved a model, such as "BertForMaskedLM"; "" if the file doesn't say.
std::string classOf(const ConfigReader& json);

/// The number of layers whose weights are stored: fewer in ALBERT, where several layers use the same.
Index storedLayers(const ConfigReader& json, const ModelType* type, Index layers);

/// Returns the rows of a shape's tables of learned positions. `shape` has its layers.
Index positionRows(const ConfigReader& json, const ModelType* type, const ModelShape& shape);

/// Returns the parameters of norms, biases, heads and whatever else a type has besides the matrices of its
/// layers and its embedding. `shape` has its layers and positions.
std::uint64_t otherParameters(const ConfigReader& json, const ModelType* type, const ModelShape& shape);

}  // namespace headscope::attention
