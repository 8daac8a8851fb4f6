#pragma once

#include <span>
#include <stop_token>

#include "attention/core/tensor.h"
#include "attention/kernels/gemm.h"

namespace headscope::attention {

// Linear maps whose weights and results lie wherever they are wanted: weights in a mapped file, in single or
// half precision; results beside each other or head by head.

using kernels::LinearMap;
using kernels::WeightType;

/// Where a map's outputs go: the rows of y.
kernels::Columns<float> intoRows(Matrix& y);
/// The heads of y [heads, rows, headDim] from `firstHead` on, headDim outputs each.
kernels::Columns<float> intoHeads(Stack& y, Index firstHead = 0);

/// y = x·Wᵀ + b for x [rows, in] and every map. False, with the outputs undefined, once `stop` is requested.
bool applyMaps(const Eigen::Ref<const Matrix>& x, std::span<const LinearMap> maps,
               const std::stop_token& stop = {});
/// The same for heads [heads, rows, headDim] side by side: in = heads · headDim.
bool applyMaps(const Stack& heads, std::span<const LinearMap> maps, const std::stop_token& stop = {});

}  // namespace headscope::attention
