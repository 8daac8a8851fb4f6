#pragma once

#include <cstddef>

#include "attention/kernels/weight_type.h"

namespace headscope::attention::kernels {

/// A row-major matrix with columns in groups of `width`, such as those of several heads. Column c of a row is
/// at data + (c / width)·groupStride + row·rowStride + c mod width. A plain matrix is one group.
template <typename Float>
struct Columns {
  Float* data = nullptr;
  std::size_t rowStride = 0;
  std::size_t width = 0;
  std::size_t groupStride = 0;
};

/// A linear map, stored like torch.nn.Linear or transposed. Weights in blocks can't be transposed, and their
/// rows begin with a block.
struct LinearMap {
  const void* weight = nullptr;  ///< [out, in]; may be unaligned
  const float* bias = nullptr;   ///< [out], or null
  std::size_t out = 0;
  Columns<float> y;  ///< [rows, out]
  WeightType type = WeightType::f32;
  bool transposed = false;    ///< the weight is [in, out]
  std::size_t weightRow = 0;  ///< numbers from row to row of the weight; 0 = rows are contiguous
  /// Outputs form groups of this size, in which the weight alternates between rows of the first and second
  /// half, as rotations of neighbours need them. 0 = weight rows are in output order.
  std::size_t paired = 0;
  const void* scales = nullptr;  ///< [out, in / 32], for mxfp4_apart
};

}  // namespace headscope::attention::kernels
