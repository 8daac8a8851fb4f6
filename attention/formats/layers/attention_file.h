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

/// Reads only the layer: its projections, under attend's tensor names or those of PyTorch models
/// (layer_names.h; the option `layer` picks one of several), and the config, from metadata overridden by
/// `options`. Infers sizes missing from the metadata if the shapes allow it; reads no other tensors. Returns
/// an Error, prefixed by `name`, for NaN or infinite values and for tensors that together exceed `budget`
/// bytes.
Result<AttentionProblem> readLayer(const TensorSource& file, const AttentionOptions& options,
                                   const std::string& name,
                                   std::uint64_t budget = std::numeric_limits<std::uint64_t>::max());
/// Reads the layer and its input: x, context, masks (mask_names.h), key_lengths. Also returns an Error for
/// NaN or infinite inputs, except −inf in an additive mask, and for unknown tensors and options, except
/// `expect.*`, `snapshot.*` and the results of an earlier run.
Result<AttentionProblem> readProblem(const TensorSource& file, const AttentionOptions& options,
                                     const std::string& name,
                                     std::uint64_t budget = std::numeric_limits<std::uint64_t>::max());

/// Checks before solve() that the results of `problem` fit into `bytes`. The error says how much they need.
Status checkBudget(const AttentionProblem& problem, std::uint64_t bytes);

/// Runs attention on every sequence of the batch.
std::vector<AttentionResult> solve(const AttentionProblem& problem);

/// Checks for overflow, which finite inputs can still cause. The error names the first array that holds NaN,
/// an infinite value, or a score of −inf for a visible key.
Status checkFinite(const AttentionProblem& problem, const std::vector<AttentionResult>& results);

/// Returns the names of the arrays in a result.
std::vector<std::string_view> resultNames();
/// Returns q, k, v, scores, weights, lse, head_output and output as F32, with a leading batch axis if
/// `batched`. All results must have the same shapes.
SafetensorsFile resultFile(const std::vector<const AttentionResult*>& results, bool batched);
SafetensorsFile resultFile(const std::vector<AttentionResult>& results, bool batched);

}  // namespace headscope::attention
