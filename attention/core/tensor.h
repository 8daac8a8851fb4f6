#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <limits>
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

}  // namespace headscope::attention
