#pragma once

#include "attention/kernels/weight_type.h"

namespace headscope::attention::kernels {

/// Steps of the inner sum per block of outputs. A panel of weights then exceeds the L1 cache and streams from
/// L2, which keeps up, but sums are written and read a third as often as with the 256 steps that would fit: 6
/// % faster at a model's sizes on AVX-512 and AVX2.
inline constexpr std::size_t kGemmDepth = 768;
/// Outputs per task, a multiple of every target's panel, and the most rows per task.
inline constexpr std::size_t kGemmColumns = 64, kGemmRows = 768;
/// Rows of a transposed weight per task for a single input row, so that memory is read sequentially.
inline constexpr std::size_t kRowSteps = 64;

/// The weights of some outputs of a map.
struct WeightColumns {
  const unsigned char* data = nullptr;  ///< the map's first number; may be unaligned
  WeightType type = WeightType::f32;
  bool transposed = false;
  std::size_t row = 0;    ///< numbers from row to row
  std::size_t first = 0;  ///< first output
  std::size_t paired = 0;
  const unsigned char* scales = nullptr;  ///< see LinearMap

  std::size_t numbersBefore(std::size_t column) const { return rowOfOutput(first + column, paired) * row; }
  /// Where the weights of an output begin. Not for a transposed map.
  const unsigned char* output(std::size_t column) const {
    return data + weightBytes(type, numbersBefore(column));
  }
  /// The scale of the block that contains `step` of an output; null if blocks contain their scales.
  const unsigned char* scale(std::size_t column, std::size_t step = 0) const {
    return scales ? scales + (numbersBefore(column) + step) / weightBlock(type).numbers : nullptr;
  }
  /// Where a row of a transposed map holds the first output.
  const unsigned char* input(std::size_t step) const { return data + weightBytes(type, step * row + first); }
};

/// A block of outputs: c [rows, columns rounded up to whole panels] = packed rows · weights.
struct GemmBlock {
  const float* packed = nullptr;  ///< panels of rows, each [in, rows of a panel]
  std::size_t in = 0, rows = 0, columns = 0;
  const float* bias = nullptr;  ///< [columns], or null
  float* c = nullptr;
  std::size_t cRow = 0;
};

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
