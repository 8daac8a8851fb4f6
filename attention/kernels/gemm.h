#pragma once

#include <cstddef>
#include <span>
#include <stop_token>

#include "attention/kernels/pool.h"

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

/// How a weight is kept: IEEE single, IEEE half, the upper half of a single, or IEEE double, which is
/// rounded.
enum class WeightType { f32, f16, bf16, f64 };
std::size_t weightBytes(WeightType type);

/// One linear map as torch.nn.Linear keeps it, or transposed.
struct LinearMap {
  const void* weight = nullptr;  ///< [out, in], at any byte
  const float* bias = nullptr;   ///< [out], or null
  std::size_t out = 0;
  Columns<float> y;  ///< [rows, out]
  WeightType type = WeightType::f32;
  bool transposed = false;    ///< the weight is [in, out]
  std::size_t weightRow = 0;  ///< numbers from row to row of the weight; 0: rows lie behind each other
};

/// y = x·Wᵀ + b for x [rows, in] and every map. Weights are read where they lie, a block at a time. False,
/// with y incomplete, once `stop` is requested. What it needs beside its arguments, x once more and a few
/// hundred KiB a thread, is kept for the next call.
bool applyMaps(Pool& pool, std::size_t rows, std::size_t in, const Columns<const float>& x,
               std::span<const LinearMap> maps, const std::stop_token& stop = {});

}  // namespace headscope::attention::kernels
