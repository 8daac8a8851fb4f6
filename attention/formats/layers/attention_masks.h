#pragma once

#include "attention/formats/layers/attention_problem.h"
#include "attention/formats/tensor_reader.h"

namespace headscope::attention {

/// Reads the tensors of maskNames() and `key_lengths`, all of which hold together, and gives every sequence
/// of `problem`, whose x and rules are known, its mask over `queries` and `keys`. How foreign masks were read
/// goes into its notes.
Status readMasks(TensorReader& reader, Index queries, Index keys, AttentionProblem& problem);

}  // namespace headscope::attention
