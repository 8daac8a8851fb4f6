#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "attention/kernels/buffer.h"

namespace headscope::attention {

/// Row-major like PyTorch's and NumPy's matrices, so that files can be used without a transpose.
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<float, Eigen::Dynamic, 1>;
using MatrixView = Eigen::Map<const Matrix>;
using MutableMatrixView = Eigen::Map<Matrix>;
using Index = Eigen::Index;

/// The score of a masked key.
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Converts a non-negative count or index to the standard library's type.
constexpr std::size_t asSize(Index i) {
  return static_cast<std::size_t>(i);
}

/// A stack of matrices of the same shape, [count, rows, cols], contiguous, row-major and aligned to 64 bytes.
/// The memory of large stacks is reused after they are destroyed.
class Stack {
 public:
  Stack() = default;
  /// Zero-filled.
  Stack(Index count, Index rows, Index cols) : Stack(uninitialized(count, rows, cols)) {
    std::fill_n(data(), size(), 0.0f);
  }
  /// Values are undefined; the caller must write all of them.
  static Stack uninitialized(Index count, Index rows, Index cols) {
    Stack stack;
    stack.count_ = count;
    stack.rows_ = rows;
    stack.cols_ = cols;
    stack.values_ = kernels::Buffer(static_cast<std::size_t>(stack.size()));
    return stack;
  }
  Stack(const Stack& other) : Stack(uninitialized(other.count_, other.rows_, other.cols_)) {
    std::copy_n(other.data(), other.size(), data());
  }
  Stack(Stack&& other) noexcept { swap(other); }
  Stack& operator=(Stack other) noexcept {
    swap(other);
    return *this;
  }
  ~Stack() = default;

  Index count() const { return count_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return count_ * rows_ * cols_; }
  bool empty() const { return size() == 0; }

  const float* data() const { return values_.data(); }
  float* data() { return values_.data(); }

  /// Slice `i` as [rows, cols].
  MatrixView operator[](Index i) const { return {data() + i * rows_ * cols_, rows_, cols_}; }
  MutableMatrixView operator[](Index i) { return {data() + i * rows_ * cols_, rows_, cols_}; }
  float at(Index i, Index row, Index col) const { return data()[(i * rows_ + row) * cols_ + col]; }

 private:
  void swap(Stack& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(values_, other.values_);
  }

  Index count_ = 0, rows_ = 0, cols_ = 0;
  kernels::Buffer values_;
};

/// Returns "[3, 4]", for messages.
inline std::string shapeText(Index rows, Index cols) {
  return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

/// Limits of an attention map: sequence length in tokens, head size, and the numbers of heads and layers.
inline constexpr Index kMaxMapTokens = 131'072;
inline constexpr Index kMaxMapHeadDim = 512;
inline constexpr Index kMaxMapHeads = 1024;
inline constexpr Index kMaxMapLayers = 4096;

/// Returns the product of sizes; the largest uint64 if it overflows. Throws std::invalid_argument if a
/// size is negative before the first 0.
inline std::uint64_t saturatingProduct(std::initializer_list<Index> sizes) {
  std::uint64_t product = 1;
  bool overflow = false;
  for (const Index size : sizes) {
    if (size < 0) throw std::invalid_argument("a size is negative: " + std::to_string(size));
    // A later zero makes the whole product zero, so the loop continues after an overflow.
    if (size == 0) return 0;
    overflow |= __builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product);
  }
  return overflow ? std::numeric_limits<std::uint64_t>::max() : product;
}

inline std::uint64_t saturatingSum(std::initializer_list<std::uint64_t> terms) {
  std::uint64_t sum = 0;
  for (const std::uint64_t term : terms)
    if (__builtin_add_overflow(sum, term, &sum)) return std::numeric_limits<std::uint64_t>::max();
  return sum;
}

}  // namespace headscope::attention
