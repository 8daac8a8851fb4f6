#pragma once

#include "attention/formats/layers/attention_problem.h"
#include "attention/formats/tensor_reader.h"

namespace headscope::attention {

/// Reads the tensors of maskNames() and `key_lengths`, which all apply together, and gives every sequence of
/// `problem` its mask over `queries` and `keys`. x and the rules must already be set. Adds notes about how
/// masks of other programs were read.
Status readMasks(TensorReader& reader, Index queries, Index keys, AttentionProblem& problem);

}  // namespace headscope::attention
