#pragma once

#include <cstddef>

#include "attention/kernels/weight_type.h"

namespace headscope::attention::kernels {

/// A row-major matrix whose columns lie in groups of `width`, as those of several heads do: column c of a
/// row begins at data + (c / width)·groupStride + row·rowStride + c mod width. A plain matrix is one group.
template <typename Float>
struct Columns {
  Float* data = nullptr;
  std::size_t rowStride = 0;
  std::size_t width = 0;
  std::size_t groupStride = 0;
};

/// One linear map as torch.nn.Linear keeps it, or transposed. A type of blocks is not transposed, and rows
/// begin with a block.
struct LinearMap {
  const void* weight = nullptr;  ///< [out, in], at any byte
  const float* bias = nullptr;   ///< [out], or null
  std::size_t out = 0;
  Columns<float> y;  ///< [rows, out]
  WeightType type = WeightType::f32;
  bool transposed = false;    ///< the weight is [in, out]
  std::size_t weightRow = 0;  ///< numbers from row to row of the weight; 0: rows lie behind each other
  /// Outputs in groups of so many, of which the weight has the first half's rows and the second half's in
  /// turn, as rotations of neighbours want them; 0: in their order.
  std::size_t paired = 0;
  const void* scales = nullptr;  ///< [out, in / 32] of mxfp4_apart
};

}  // namespace headscope::attention::kernels
