#pragma once

#include <string>

#include "attention/formats/layers/attention_options.h"
#include "attention/formats/layers/attention_problem.h"
#include "attention/formats/tensor_reader.h"

namespace headscope::attention {

/// The config and the projections of the file's layer that the options choose (layer_names.h); of tensors
/// nothing else is read. Fused maps are taken apart (core/fused_rows.h), and Conv1D's are transposed. `name`
/// stands in front of messages.
Result<AttentionProblem> readLayerTensors(TensorReader& reader, const SafetensorsHeader& header,
                                          ParsedOptions options, const std::string& name);

}  // namespace headscope::attention
