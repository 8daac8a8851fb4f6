#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/attention_result.h"
#include "attention/formats/layers/attention_problem.h"
#include "attention/formats/safetensors.h"
#include "attention/formats/tensor_source.h"

namespace headscope::attention {

/// Reads the layer alone: projections by attend's tensor names or those of PyTorch's models (layer_names.h),
/// the option `layer` choosing where a file has several, and the config from metadata overridden by
/// `options`. Sizes that metadata leaves out are inferred where the shapes allow it. NaN or infinite values
/// are errors, and tensors that take more than `budget` bytes together. Of other tensors nothing is read.
/// `name` stands in front of messages.
Result<AttentionProblem> readLayer(const TensorSource& file, const AttentionOptions& options,
                                   const std::string& name,
                                   std::uint64_t budget = std::numeric_limits<std::uint64_t>::max());
/// The layer and its input: x, context, masks (mask_names.h), key_lengths. NaN or infinite inputs are errors,
/// apart from −inf in an additive mask; so are tensors and options of other names, `expect.*`, `snapshot.*`
/// and the results of an earlier run apart.
Result<AttentionProblem> readProblem(const TensorSource& file, const AttentionOptions& options,
                                     const std::string& name,
                                     std::uint64_t budget = std::numeric_limits<std::uint64_t>::max());

/// Whether the results of `problem` fit into `bytes`; the error says what they need. For before solve().
Status checkBudget(const AttentionProblem& problem, std::uint64_t bytes);

/// Runs every sequence of the batch.
std::vector<AttentionResult> solve(const AttentionProblem& problem);

/// Finite inputs can still overflow on the way: the error names the first array that holds NaN, an
/// infinite value, or a score of −inf where the mask lets the query see the key.
Status checkFinite(const AttentionProblem& problem, const std::vector<AttentionResult>& results);

/// The names of the arrays in a result.
std::vector<std::string_view> resultNames();
/// q, k, v, scores, weights, lse, head_output, output as F32; a leading batch axis when `batched`.
/// All results have the same shapes.
SafetensorsFile resultFile(const std::vector<const AttentionResult*>& results, bool batched);
SafetensorsFile resultFile(const std::vector<AttentionResult>& results, bool batched);

}  // namespace headscope::attention
