#include <cmath>

#include "attention/expressions/functions.h"

namespace headscope::attention {

namespace {

/// All comparisons treat numbers as equal that differ by at most this, or for numbers below 1 by at most this
/// share of the larger, so that exactly one of a < b, a == b and a > b holds. Only 0 equals 0: 10⁻⁷ is less
/// than 10⁻⁶, and a small weight more than none.
constexpr double kEqual = 1e-6;

bool equals(double a, double b) {
  if (a == b) return true;
  return std::abs(a - b) <= kEqual * std::min(1.0, std::max(std::abs(a), std::abs(b)));
}

/// Throws at the first NaN; otherwise a comparison with it would silently be false.
void refuseNaN(const double* values, Index count) {
  bool any = false;
  for (Index i = 0; i < count; ++i) any |= std::isnan(values[i]);
  if (any) throw EvaluationFault{"a condition contains NaN, which is neither true nor false"};
}

template <double (*F)(double, double)>
void combine(double* to, const double* with, Index count) {
  for (Index i = 0; i < count; ++i) to[i] = F(to[i], with[i]);
}

/// In the order of BinaryOperator.
constexpr void (*kJoins[])(double*, const double*, Index) = {
    combine<[](double a, double b) { return a + b; }>,
    combine<[](double a, double b) { return a - b; }>,
    combine<[](double a, double b) { return a * b; }>,
    combine<[](double a, double b) { return a / b; }>,
    combine<[](double a, double b) { return std::pow(a, b); }>,
    combine<[](double a, double b) { return double(equals(a, b)); }>,
    combine<[](double a, double b) { return double(!equals(a, b)); }>,
    combine<[](double a, double b) { return double(a < b && !equals(a, b)); }>,
    combine<[](double a, double b) { return double(a < b || equals(a, b)); }>,
    combine<[](double a, double b) { return double(a > b && !equals(a, b)); }>,
    combine<[](double a, double b) { return double(a > b || equals(a, b)); }>,
    combine<[](double a, double b) { return double(a != 0 && b != 0); }>,
    combine<[](double a, double b) { return double(a != 0 || b != 0); }>,
};

void apply(BinaryOperator join, double* to, const double* with, Index count) {
  if (join >= BinaryOperator::equal) {  // a condition
    refuseNaN(to, count);
    refuseNaN(with, count);
  }
  kJoins[static_cast<std::size_t>(join)](to, with, count);
}

/// A buffer for an operand's values while they are combined.
class Scratch {
 public:
  explicit Scratch(Index count) : values_(static_cast<std::size_t>(count)) {}
  const double* read(const Array& part, Index begin, Index count) {
    part.read(begin, count, values_.data());
    return values_.data();
  }

 private:
  std::vector<double> values_;
};

class Chain : public Array::Computed {
 public:
  Chain(std::vector<Array> parts, std::vector<BinaryOperator> joins)
      : parts_(std::move(parts)), joins_(std::move(joins)) {}
  void read(Index begin, Index count, double* to) const override {
    parts_.front().read(begin, count, to);
    Scratch scratch(count);
    for (std::size_t i = 0; i < joins_.size(); ++i)
      apply(joins_[i], to, scratch.read(parts_[i + 1], begin, count), count);
  }

 private:
  std::vector<Array> parts_;
  std::vector<BinaryOperator> joins_;
};

template <typename F>
class Mapped : public Array::Computed {
 public:
  Mapped(Array part, F f) : part_(std::move(part)), f_(f) {}
  void read(Index begin, Index count, double* to) const override {
    part_.read(begin, count, to);
    f_(to, count);
  }

 private:
  Array part_;
  F f_;
};

template <typename F>
Array mapBlocks(Evaluation& run, const Array& part, F f) {
  run.visit(part.size());
  return {part.shape(), std::make_shared<Mapped<F>>(part, f)};
}

class Choice : public Array::Computed {
 public:
  explicit Choice(std::vector<Array> parts) : parts_(std::move(parts)) {}
  void read(Index begin, Index count, double* to) const override {
    parts_[1].read(begin, count, to);
    Scratch condition(count), other(count);
    const double* const holds = condition.read(parts_[0], begin, count);
    const double* const no = other.read(parts_[2], begin, count);
    refuseNaN(holds, count);
    for (Index i = 0; i < count; ++i)
      if (holds[i] == 0) to[i] = no[i];
  }

 private:
  std::vector<Array> parts_;
};

/// Broadcasts all parts to one shape and counts a read of each.
ArrayShape align(Evaluation& run, std::vector<Array>& parts) {
  ArrayShape shape = commonShape(parts);
  const Index size = valueCount(shape);
  for (Array& part : parts) {
    run.visit(size);
    // Computed values have no strides to repeat, so they are stored first.
    if (part.shape() != shape) part = run.kept(part).broadcast(shape);
  }
  return shape;
}

}  // namespace

ArrayShape commonShape(std::span<const Array> parts) {
  ArrayShape shape = parts.front().shape();
  for (const Array& part : parts.subspan(1)) {
    auto both = broadcastShape(shape, part.shape());
    if (!both)
      throw EvaluationFault{"the shapes " + shapeText(shape) + " and " + shapeText(part.shape()) +
                            " don't fit each other"};
    shape = *std::move(both);
  }
  return shape;
}

Array joined(Evaluation& run, std::vector<Array> parts, const std::vector<BinaryOperator>& joins) {
  ArrayShape shape = align(run, parts);
  if (valueCount(shape) == 1) {
    // Most expressions consist of single numbers; compute them right away.
    double value = parts.front().at(0);
    for (std::size_t i = 0; i < joins.size(); ++i) {
      const double with = parts[i + 1].at(0);
      apply(joins[i], &value, &with, 1);
    }
    return {std::move(shape), std::vector<double>{value}};
  }
  return {std::move(shape), std::make_shared<Chain>(std::move(parts), joins)};
}

Array mapped(Evaluation& run, const Array& part, double (*f)(double)) {
  return mapBlocks(run, part,
                   [f](double* values, Index count) { std::transform(values, values + count, values, f); });
}

Array negated(Evaluation& run, const Array& part) {
  return mapBlocks(run, part, [](double* values, Index count) {
    for (Index i = 0; i < count; ++i) values[i] = -values[i];
  });
}

Array chosen(Evaluation& run, Arguments arguments) {
  std::vector<Array> parts(arguments.begin(), arguments.end());
  ArrayShape shape = align(run, parts);
  return {std::move(shape), std::make_shared<Choice>(std::move(parts))};
}

namespace {

Index placeInside(Index place, Index size, std::size_t axis, const ArrayShape& shape) {
  if (place < -size || place >= size)
    throw EvaluationFault{
        "index " + std::to_string(place) + " is out of range: axis " + std::to_string(axis) + " of " +
        shapeText(shape) + " has " +
        (size == 0 ? "no places" : std::to_string(-size) + " to " + std::to_string(size - 1))};
  return place < 0 ? place + size : place;
}

/// Slices an axis as Python does: bounds past the end are clamped.
Array sliced(const Array& from, std::size_t axis, const AxisPick& pick, const std::vector<Array>& parts) {
  const Index size = from.shape()[axis];
  const auto clamped = [&](int part, const char* what, Index otherwise) {
    if (part < 0) return otherwise;
    const Index place = wholeNumber(numberOf(parts[static_cast<std::size_t>(part)], what), what);
    return std::clamp<Index>(place < 0 ? place + size : place, 0, size);
  };
  const Index first = clamped(pick.first, "a slice's begin", 0);
  const Index count = std::max<Index>(clamped(pick.end, "a slice's end", size) - first, 0);
  return from.slice(axis, count == 0 ? 0 : first, count);
}

/// Picks the indices of an axis that a list names, in the list's order.
Array gathered(Evaluation& run, const Array& from, std::size_t axis, const Array& list) {
  if (list.rank() != 1)
    throw EvaluationFault{"an index has the shape " + shapeText(list.shape()) +
                          ", expected a number or a list"};
  ArrayShape shape = from.shape();
  Index inner = 1, outer = 1;
  for (std::size_t a = 0; a < shape.size(); ++a) (a < axis ? outer : inner) *= a == axis ? 1 : shape[a];
  const Index size = shape[axis];
  shape[axis] = list.size();
  const Index count = valueCount(shape);
  run.allocate(count);
  run.visit(count);
  std::vector<Index> places;
  for (const double place : run.values(list))
    places.push_back(placeInside(wholeNumber(place, "an index"), size, axis, from.shape()));
  std::vector<double> values(static_cast<std::size_t>(count));
  double* to = values.data();
  if (inner > 0)
    for (Index o = 0; o < outer; ++o) {
      run.checkStop();
      for (const Index place : places) {
        from.read((o * size + place) * inner, inner, to);
        to += inner;
      }
    }
  return {std::move(shape), std::move(values)};
}

}  // namespace

Array picked(Evaluation& run, const std::vector<AxisPick>& picks, const std::vector<Array>& parts) {
  Array array = run.kept(parts.front());
  const ArrayShape whole = array.shape();
  const auto wanted = static_cast<std::size_t>(std::count_if(
      picks.begin(), picks.end(), [](const AxisPick& pick) { return pick.kind != AxisPick::Kind::newAxis; }));
  if (wanted > whole.size())
    throw EvaluationFault{std::to_string(wanted) + (wanted == 1 ? " index picks" : " indices pick") +
                          " from " + shapeText(whole) + ", which has " + std::to_string(whole.size()) +
                          (whole.size() == 1 ? " axis" : " axes")};
  std::size_t axis = 0;
  for (const AxisPick& pick : picks) {
    if (pick.kind == AxisPick::Kind::newAxis) {
      if (array.rank() == Array::kMaxRank)
        throw EvaluationFault{"an array has at most " + std::to_string(Array::kMaxRank) + " axes"};
      array = array.withAxis(axis++);
    } else if (pick.kind == AxisPick::Kind::slice) {
      array = sliced(array, axis++, pick, parts);
    } else if (const Array& index = parts[static_cast<std::size_t>(pick.first)]; index.rank() > 0) {
      array = gathered(run, array, axis++, index);
    } else {
      const Index place = wholeNumber(index.at(0), "an index");
      array = array.pick(axis, placeInside(place, array.shape()[axis], axis, array.shape()));
    }
  }
  return array;
}

}  // namespace headscope::attention
