#include "attention/expressions/array.h"

#include <array>

#include "attention/core/result.h"

namespace headscope::attention {

std::string shapeText(const ArrayShape& shape) {
  if (shape.empty()) return "a number";
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  return text + "]";
}

Index valueCount(const ArrayShape& shape) {
  Index count = 1;
  bool overflow = false;
  for (const Index size : shape) {
    if (size == 0) return 0;
    overflow |= __builtin_mul_overflow(count, size, &count);
  }
  return overflow ? std::numeric_limits<Index>::max() : count;
}

namespace {

ArrayShape rowMajor(const ArrayShape& shape) {
  ArrayShape strides(shape.size());
  Index stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= std::max<Index>(shape[axis], 1);
  }
  return strides;
}

}  // namespace

Array::Array(double number) : numbers_(std::make_shared<const std::vector<double>>(1, number)) {}

Array::Array(ArrayShape shape, std::vector<double> values)
    : shape_(std::move(shape)), strides_(rowMajor(shape_)), size_(valueCount(shape_)) {
  require(
      shape_.size() <= kMaxRank && size_ == static_cast<Index>(values.size()),
      "an array of shape " + shapeText(shape_) + " can't hold " + std::to_string(values.size()) + " values");
  numbers_ = std::make_shared<const std::vector<double>>(std::move(values));
}

Array::Array(ArrayShape shape, const float* values, std::shared_ptr<const void> owner)
    : shape_(std::move(shape)),
      strides_(rowMajor(shape_)),
      size_(valueCount(shape_)),
      floats_(values),
      owner_(std::move(owner)) {
  require(shape_.size() <= kMaxRank, "an array has " + std::to_string(shape_.size()) + " axes");
}

Array::Array(ArrayShape shape, std::shared_ptr<const Computed> values)
    : shape_(std::move(shape)), size_(valueCount(shape_)), computed_(std::move(values)) {
  require(shape_.size() <= kMaxRank, "an array has " + std::to_string(shape_.size()) + " axes");
}

template <typename T>
void Array::readStrided(const T* first, Index begin, Index count, double* to) const {
  // Merge axes that follow each other without a gap; skip axes of size 1.
  std::array<Index, kMaxRank> sizes{}, strides{}, at{};
  std::size_t rank = 0;
  for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
    if (shape_[axis] == 1) continue;
    if (rank > 0 && strides[rank - 1] == strides_[axis] * shape_[axis]) {
      sizes[rank - 1] *= shape_[axis];
      strides[rank - 1] = strides_[axis];
    } else {
      sizes[rank] = shape_[axis];
      strides[rank++] = strides_[axis];
    }
  }
  if (rank == 0) {
    std::fill_n(to, count, static_cast<double>(*first));
    return;
  }
  for (std::size_t axis = rank; axis-- > 0; begin /= sizes[axis]) at[axis] = begin % sizes[axis];
  const T* row = first;
  for (std::size_t axis = 0; axis + 1 < rank; ++axis) row += at[axis] * strides[axis];
  const std::size_t last = rank - 1;
  while (count > 0) {
    const Index run = std::min(count, sizes[last] - at[last]);
    const T* from = row + at[last] * strides[last];
    if (const Index stride = strides[last]; stride == 1)
      std::copy_n(from, run, to);
    else if (stride == 0)
      std::fill_n(to, run, static_cast<double>(*from));
    else
      for (Index i = 0; i < run; ++i) to[i] = static_cast<double>(from[i * stride]);
    to += run;
    count -= run;
    at[last] = 0;
    for (std::size_t axis = last; axis-- > 0;) {
      row += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      row -= strides[axis] * sizes[axis];
      at[axis] = 0;
    }
  }
}

void Array::read(Index begin, Index count, double* to) const {
  if (count == 0) return;
  if (computed_)
    computed_->read(begin, count, to);
  else if (floats_)
    readStrided(floats_ + offset_, begin, count, to);
  else
    readStrided(numbers_->data() + offset_, begin, count, to);
}

double Array::at(Index place) const {
  require(place >= 0 && place < size_, "place " + std::to_string(place) + " of " + shapeText(shape_));
  double value = 0;
  read(place, 1, &value);
  return value;
}

std::vector<double> Array::values() const {
  std::vector<double> all(static_cast<std::size_t>(size_));
  read(0, size_, all.data());
  return all;
}

Array Array::pick(std::size_t axis, Index place) const {
  Array part = slice(axis, place, 1);
  part.shape_.erase(part.shape_.begin() + static_cast<std::ptrdiff_t>(axis));
  part.strides_.erase(part.strides_.begin() + static_cast<std::ptrdiff_t>(axis));
  return part;
}

Array Array::slice(std::size_t axis, Index first, Index count) const {
  require(!computed_ && axis < rank(), "a view needs stored values and an existing axis");
  require(count == 0 || (first >= 0 && count > 0 && first + count <= shape_[axis]),
          "a view beyond " + shapeText(shape_));
  Array part = *this;
  if (count > 0) part.offset_ += first * strides_[axis];
  part.shape_[axis] = count;
  part.size_ = valueCount(part.shape_);
  return part;
}

Array Array::withAxis(std::size_t axis) const {
  require(!computed_ && axis <= rank() && rank() < kMaxRank, "the array already has the most axes possible");
  Array more = *this;
  more.shape_.insert(more.shape_.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  more.strides_.insert(more.strides_.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  return more;
}

Array Array::transposed(const std::vector<std::size_t>& order) const {
  require(!computed_ && order.size() == rank(), "the order doesn't name the axes of " + shapeText(shape_));
  Array turned = *this;
  for (std::size_t axis = 0; axis < order.size(); ++axis) {
    turned.shape_[axis] = shape_[order[axis]];
    turned.strides_[axis] = strides_[order[axis]];
  }
  return turned;
}

Array Array::broadcast(const ArrayShape& shape) const {
  require(!computed_ && shape.size() >= rank() && shape.size() <= kMaxRank &&
              broadcastShape(shape_, shape) == shape,
          shapeText(shape_) + " can't be repeated to " + shapeText(shape));
  Array wide = *this;
  const std::size_t missing = shape.size() - rank();
  wide.shape_ = shape;
  wide.strides_.assign(shape.size(), 0);
  for (std::size_t axis = 0; axis < rank(); ++axis)
    if (shape_[axis] == shape[missing + axis]) wide.strides_[missing + axis] = strides_[axis];
  wide.size_ = valueCount(shape);
  return wide;
}

Array Array::reshaped(ArrayShape shape) const {
  require(!computed_ && strides_ == rowMajor(shape_) && valueCount(shape) == size_,
          shapeText(shape_) + " as " + shapeText(shape));
  Array other = *this;
  other.strides_ = rowMajor(shape);
  other.shape_ = std::move(shape);
  return other;
}

std::optional<ArrayShape> broadcastShape(const ArrayShape& a, const ArrayShape& b) {
  ArrayShape both(std::max(a.size(), b.size()), 1);
  for (std::size_t back = 1; back <= both.size(); ++back) {
    const Index first = back <= a.size() ? a[a.size() - back] : 1;
    const Index second = back <= b.size() ? b[b.size() - back] : 1;
    if (first != second && first != 1 && second != 1) return std::nullopt;
    both[both.size() - back] = first == 1 ? second : first;
  }
  return both;
}

}  // namespace headscope::attention
