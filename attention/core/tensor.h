#pragma once

#include <Eigen/Core>
#include <string>

namespace headscope::attention {

/// Row-major, as PyTorch and NumPy keep matrices, so that files map onto them without a transpose.
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::Matrix<float, Eigen::Dynamic, 1>;
using MatrixView = Eigen::Map<const Matrix>;
using MutableMatrixView = Eigen::Map<Matrix>;
using Index = Eigen::Index;

/// A stack of equally shaped matrices, [count, rows, cols], contiguous and row-major.
class Stack {
 public:
  Stack() = default;
  /// Zero-filled.
  Stack(Index count, Index rows, Index cols) : count_(count), rows_(rows), cols_(cols) {
    values_ = Matrix::Zero(count * rows, cols);
  }

  Index count() const { return count_; }
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return values_.size(); }
  bool empty() const { return values_.size() == 0; }

  const float* data() const { return values_.data(); }
  float* data() { return values_.data(); }

  /// Slice `i` as [rows, cols].
  MatrixView operator[](Index i) const { return {data() + i * rows_ * cols_, rows_, cols_}; }
  MutableMatrixView operator[](Index i) { return {data() + i * rows_ * cols_, rows_, cols_}; }
  float at(Index i, Index row, Index col) const { return data()[(i * rows_ + row) * cols_ + col]; }

 private:
  Index count_ = 0, rows_ = 0, cols_ = 0;
  Matrix values_;
};

/// "[3, 4]" for messages.
inline std::string shapeText(Index rows, Index cols) {
  return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

}  // namespace headscope::attention
