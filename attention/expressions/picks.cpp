#include <algorithm>
#include <limits>

#include "attention/expressions/evaluation.h"

namespace headscope::attention {

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
