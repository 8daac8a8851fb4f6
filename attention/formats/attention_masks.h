#pragma once

#include "attention/formats/attention_file.h"
#include "attention/formats/tensor_reader.h"

namespace headscope::attention {

/// Reads `mask` and `key_lengths` and gives every sequence of `problem`, whose x and rules are known, its
/// mask over `queries` and `keys`.
Status readMasks(TensorReader& reader, Index queries, Index keys, AttentionProblem& problem);

}  // namespace headscope::attention
