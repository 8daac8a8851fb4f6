#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// The maximum nesting depth of brackets, signs and powers.
inline constexpr std::size_t kMaxExpressionDepth = 64;

/// The most that one evaluation may use.
struct ExpressionLimits {
  std::uint64_t visits = std::uint64_t{1} << 31;  ///< values read, summed over all operands
  std::uint64_t bytes = std::uint64_t{1} << 30;   ///< of results that can't be computed block by block
};

/// The sizes of an array's axes, first axis first; empty for a single number.
using ArrayShape = std::vector<Index>;

/// Returns "[8, 12, 12]", or "a number" for a shape without axes.
std::string shapeText(const ArrayShape& shape);
/// Returns the number of values in an array of this shape, capped at 2⁶³ − 1.
Index valueCount(const ArrayShape& shape);

/// A row-major array of numbers with up to kMaxRank axes, modelled on NumPy's. Immutable, so copies share
/// their values. A view of borrowed floats copies nothing.
class Array {
 public:
  static constexpr std::size_t kMaxRank = 6;

  /// Values computed each time they are read. Safe to read from several threads at once.
  class Computed {
   public:
    virtual ~Computed() = default;
    /// Writes values begin … begin + count − 1 in row-major order.
    virtual void read(Index begin, Index count, double* to) const = 0;
  };

  Array(double number = 0);
  /// Throws std::invalid_argument if shape and values don't match. So do the functions below.
  Array(ArrayShape shape, std::vector<double> values);
  /// Borrows row-major floats; `owner` keeps them alive.
  Array(ArrayShape shape, const float* values, std::shared_ptr<const void> owner);
  Array(ArrayShape shape, std::shared_ptr<const Computed> values);

  const ArrayShape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.size(); }
  Index size() const { return size_; }
  bool isComputed() const { return computed_ != nullptr; }

  /// Writes values begin … begin + count − 1 in row-major order.
  void read(Index begin, Index count, double* to) const;
  /// Returns the value at a row-major index. Meant for a few values only.
  double at(Index place) const;
  /// Returns all values in row-major order.
  std::vector<double> values() const;

  // Views. They need stored (not computed) values, and the axis and the picked range must exist.

  /// Picks one index of an axis and removes the axis.
  Array pick(std::size_t axis, Index place) const;
  /// Keeps `count` indices of an axis, starting at `first`.
  Array slice(std::size_t axis, Index first, Index count) const;
  /// Inserts an axis of size 1.
  Array withAxis(std::size_t axis) const;
  /// Reorders the axes: axis a of the result is axis order[a] of this array.
  Array transposed(const std::vector<std::size_t>& order) const;
  /// Repeats axes of size 1 and adds missing leading axes.
  Array broadcast(const ArrayShape& shape) const;
  /// Gives the same values another shape. They must be contiguous.
  Array reshaped(ArrayShape shape) const;

 private:
  template <typename T>
  void readStrided(const T* first, Index begin, Index count, double* to) const;

  ArrayShape shape_;
  ArrayShape strides_;  ///< in values; empty if the values are computed
  Index size_ = 1, offset_ = 0;
  std::shared_ptr<const std::vector<double>> numbers_;
  const float* floats_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const Computed> computed_;
};

/// Returns the shape both broadcast to: axes are aligned at the last one and sizes of 1 are repeated. Returns
/// nullopt if the shapes don't match.
std::optional<ArrayShape> broadcastShape(const ArrayShape& a, const ArrayShape& b);

}  // namespace headscope::attention
