#pragma once

#include <string>

#include "attention/formats/layers/attention_options.h"
#include "attention/formats/layers/attention_problem.h"
#include "attention/formats/tensor_reader.h"

namespace headscope::attention {

/// Reads the config and the projections of the layer chosen by the options (layer_names.h), and no other
/// tensors. Splits fused projections (core/fused_rows.h) and transposes Conv1D weights. Messages are prefixed
/// by `name`.
Result<AttentionProblem> readLayerTensors(TensorReader& reader, const SafetensorsHeader& header,
                                          ParsedOptions options, const std::string& name);

}  // namespace headscope::attention
