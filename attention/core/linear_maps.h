#pragma once

#include <span>
#include <stop_token>

#include "attention/core/tensor.h"
#include "attention/kernels/gemm.h"

namespace headscope::attention {

// Linear maps with flexible storage: weights may lie in a mapped file, in single or half precision; results
// may be row by row or head by head.

using kernels::LinearMap;
using kernels::WeightType;

/// Returns a destination for a map's outputs: the rows of y.
kernels::Columns<float> intoRows(Matrix& y);
/// Returns a destination for a map's outputs: the heads of y [heads, rows, headDim] from `firstHead` on, with
/// headDim outputs each.
kernels::Columns<float> intoHeads(Stack& y, Index firstHead = 0);

/// Computes y = x·Wᵀ + b for x [rows, in] and every map. Returns false, with the outputs undefined, once
/// `stop` is requested.
bool applyMaps(const Eigen::Ref<const Matrix>& x, std::span<const LinearMap> maps,
               const std::stop_token& stop = {});
/// The same for concatenated heads [heads, rows, headDim]: in = heads · headDim.
bool applyMaps(const Stack& heads, std::span<const LinearMap> maps, const std::stop_token& stop = {});

}  // namespace headscope::attention
