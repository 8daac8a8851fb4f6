#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Sizes of an array's axes, the first axis first; none of a single number.
using ArrayShape = std::vector<Index>;

/// "[8, 12, 12]"; "a number" without axes.
std::string shapeText(const ArrayShape& shape);
/// How many values such an array has: at most 2⁶³ − 1, where there would be more.
Index valueCount(const ArrayShape& shape);

/// Numbers in row-major order with up to kMaxRank axes, as NumPy has them. What it holds never changes, and
/// copies share it: picking a part of floats that lie elsewhere copies nothing.
class Array {
 public:
  static constexpr std::size_t kMaxRank = 6;

  /// Values that are made when they are read. Reads of several threads don't disturb each other.
  class Computed {
   public:
    virtual ~Computed() = default;
    /// Writes values begin … begin + count − 1, counted in row-major order.
    virtual void read(Index begin, Index count, double* to) const = 0;
  };

  Array(double number = 0);
  /// Throws std::invalid_argument where shape and values don't fit, here and below.
  Array(ArrayShape shape, std::vector<double> values);
  /// Floats that lie elsewhere, row-major; `owner` keeps them alive.
  Array(ArrayShape shape, const float* values, std::shared_ptr<const void> owner);
  Array(ArrayShape shape, std::shared_ptr<const Computed> values);

  const ArrayShape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.size(); }
  Index size() const { return size_; }
  bool isComputed() const { return computed_ != nullptr; }

  /// Values begin … begin + count − 1 in row-major order.
  void read(Index begin, Index count, double* to) const;
  /// The value at a place in row-major order; for a few values.
  double at(Index place) const;
  /// All values in row-major order.
  std::vector<double> values() const;

  // Views of what is not computed; the axis and what is picked of it are there.

  /// One place of an axis, which goes.
  Array pick(std::size_t axis, Index place) const;
  /// `count` places of an axis from `first` on.
  Array slice(std::size_t axis, Index first, Index count) const;
  /// With one more axis of size 1.
  Array withAxis(std::size_t axis) const;
  /// Axis a of the result is axis order[a] of this.
  Array transposed(const std::vector<std::size_t>& order) const;
  /// Axes of size 1, and those in front that are missing, are repeated.
  Array broadcast(const ArrayShape& shape) const;
  /// The same values as another shape; of values without gaps.
  Array reshaped(ArrayShape shape) const;

 private:
  template <typename T>
  void readStrided(const T* first, Index begin, Index count, double* to) const;

  ArrayShape shape_;
  ArrayShape strides_;  ///< in values; empty where the values are computed
  Index size_ = 1, offset_ = 0;
  std::shared_ptr<const std::vector<double>> numbers_;
  const float* floats_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const Computed> computed_;
};

/// The shape that both are repeated to, axes aligned at the last one, sizes of 1 repeated; nothing where they
/// can't be.
std::optional<ArrayShape> broadcastShape(const ArrayShape& a, const ArrayShape& b);

}  // namespace headscope::attention
