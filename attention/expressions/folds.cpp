#include <cmath>

#include "attention/core/decompositions.h"
#include "attention/expressions/functions.h"

namespace headscope::attention {

namespace {

void refuse(double value, const char* what) {
  if (std::isnan(value))
    throw EvaluationFault{std::string(what) + " contains NaN, which is neither true nor false"};
}

// Each folder takes the values of one axis in turn, then returns their result.

struct Sum {
  double sum = 0;
  void add(double value, Index) { sum += value; }
  double result(Index) const { return sum; }
};
struct Mean {
  double sum = 0;
  void add(double value, Index) { sum += value; }
  double result(Index count) const { return sum / static_cast<double>(count); }
};
/// The population's standard deviation, with Welford's running mean.
struct Deviation {
  double mean = 0, squares = 0;
  void add(double value, Index at) {
    const double before = value - mean;
    mean += before / static_cast<double>(at + 1);
    squares += before * (value - mean);
  }
  double result(Index count) const { return std::sqrt(squares / static_cast<double>(count)); }
};
/// NaN propagates, as in NumPy.
template <bool Most, bool At>
struct Extreme {
  double best = 0;
  Index place = -1;
  void add(double value, Index at) {
    if (place >= 0 && !(Most ? value > best : value < best) && !(std::isnan(value) && !std::isnan(best)))
      return;
    best = value;
    place = at;
  }
  double result(Index) const { return At ? static_cast<double>(place) : best; }
};
struct Count {
  double count = 0;
  void add(double value, Index) {
    refuse(value, "count");
    count += value != 0;
  }
  double result(Index) const { return count; }
};
struct Any {
  bool any = false;
  void add(double value, Index) {
    refuse(value, "any");
    any |= value != 0;
  }
  double result(Index) const { return any; }
};
struct All {
  bool all = true;
  void add(double value, Index) {
    refuse(value, "all");
    all &= value != 0;
  }
  double result(Index) const { return all; }
};
struct Norm {
  double squares = 0;
  void add(double value, Index) { squares += value * value; }
  double result(Index) const { return std::sqrt(squares); }
};
struct Entropy {
  double sum = 0;
  void add(double value, Index) {
    if (value < 0) throw EvaluationFault{"entropy meets " + numberWords(value) + ", expected probabilities"};
    if (value != 0) sum -= value * std::log(value);
  }
  double result(Index) const { return sum; }
};

/// The number of positions before an axis, along it, and after it. Without an axis, all values lie along one.
struct Axes {
  Index outer = 1, length = 1, inner = 1;
  Axes(const Array& of, std::optional<std::size_t> axis) {
    if (!axis) length = of.size();
    for (std::size_t a = 0; axis && a < of.rank(); ++a)
      (a < *axis ? outer : a == *axis ? length : inner) *= of.shape()[a];
  }
};

ArrayShape withoutAxis(const Array& of, std::optional<std::size_t> axis) {
  ArrayShape shape;
  for (std::size_t a = 0; axis && a < of.rank(); ++a)
    if (a != *axis) shape.push_back(of.shape()[a]);
  return shape;
}

template <typename Folder>
Array foldBy(Evaluation& run, const Array& of, std::optional<std::size_t> axis) {
  const Axes axes(of, axis);
  run.allocate(axes.outer * axes.inner);
  std::vector<double> results;
  results.reserve(static_cast<std::size_t>(axes.outer * axes.inner));
  std::vector<Folder> folders(static_cast<std::size_t>(axes.inner));
  const auto finish = [&] {
    for (Folder& folder : folders) {
      results.push_back(folder.result(axes.length));
      folder = {};
    }
  };
  if (of.size() == 0) {
    for (Index o = 0; o < axes.outer; ++o) finish();
    return {withoutAxis(of, axis), std::move(results)};
  }
  Index at = 0, inside = 0;
  run.forEachBlock(of, [&](const double* values, Index, Index count) {
    while (count > 0) {
      Index taken = 0;
      if (axes.inner == 1) {
        taken = std::min(count, axes.length - at);
        Folder folder = folders.front();
        for (Index i = 0; i < taken; ++i) folder.add(values[i], at + i);
        folders.front() = folder;
        at += taken;
      } else {
        taken = std::min(count, axes.inner - inside);
        for (Index i = 0; i < taken; ++i) folders[static_cast<std::size_t>(inside + i)].add(values[i], at);
        inside += taken;
        if (inside == axes.inner) {
          inside = 0;
          ++at;
        }
      }
      if (at == axes.length) {
        finish();
        at = 0;
      }
      values += taken;
      count -= taken;
    }
  });
  return {withoutAxis(of, axis), std::move(results)};
}

}  // namespace

Array folded(Evaluation& run, const Array& of, std::optional<std::size_t> axis, Fold fold) {
  if (fold <= Fold::argmax && Axes(of, axis).length == 0)
    throw EvaluationFault{shapeText(of.shape()) + " is empty, expected at least one value"};
  // In the order of Fold.
  static constexpr Array (*kFolds[])(Evaluation&, const Array&, std::optional<std::size_t>) = {
      foldBy<Mean>,
      foldBy<Deviation>,
      foldBy<Extreme<false, false>>,
      foldBy<Extreme<true, false>>,
      foldBy<Extreme<true, true>>,
      foldBy<Sum>,
      foldBy<Norm>,
      foldBy<Entropy>,
      foldBy<Count>,
      foldBy<Any>,
      foldBy<All>};
  return kFolds[static_cast<std::size_t>(fold)](run, of, axis);
}

Array softmaxOf(Evaluation& run, const Array& of, std::size_t axis) {
  constexpr double kNothing = -std::numeric_limits<double>::infinity();
  const Axes axes(of, axis);
  std::vector<double> values = run.values(of);
  run.visit(of.size());
  for (Index o = 0; o < axes.outer; ++o)
    for (Index i = 0; i < axes.inner; ++i) {
      double* const first = values.data() + o * axes.length * axes.inner + i;
      double most = kNothing, sum = 0;
      // NaN propagates, as in NumPy; +inf makes its row NaN.
      for (Index a = 0; a < axes.length; ++a)
        if (const double value = first[a * axes.inner]; value > most || std::isnan(value)) {
          most = value;
          if (std::isnan(value)) break;
        }
      for (Index a = 0; a < axes.length; ++a) {
        double& value = first[a * axes.inner];
        value = most == kNothing ? 0 : std::exp(value - most);
        sum += value;
      }
      for (Index a = 0; a < axes.length && sum != 0; ++a) first[a * axes.inner] /= sum;
    }
  return {of.shape(), std::move(values)};
}

Array uniqueValues(Evaluation& run, Arguments arguments) {
  const Array& of = arguments[0];
  std::vector<double> values = run.values(of);
  run.visit(of.size());
  for (const double value : values) refuse(value, "unique");
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto count = static_cast<Index>(values.size());
  return {{count}, std::move(values)};
}

namespace {

using Doubles = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Singular values of larger matrices take seconds, and the computation can't be interrupted.
constexpr Index kMaxRankSide = 512;

void requireMatrices(const Array& of, const char* what) {
  if (of.rank() < 2)
    throw EvaluationFault{std::string(what) + " needs matrices, found " + shapeText(of.shape())};
}

/// Sizes of all axes but the last two.
ArrayShape stackOf(const Array& of) {
  return {of.shape().begin(), of.shape().end() - 2};
}

}  // namespace

Array ranks(Evaluation& run, Arguments arguments) {
  const Array& of = arguments[0];
  requireMatrices(of, "rank");
  const Index rows = of.shape()[of.rank() - 2], cols = of.shape()[of.rank() - 1];
  if (std::min(rows, cols) > kMaxRankSide)
    throw EvaluationFault{"rank takes matrices with a side up to " + std::to_string(kMaxRankSide) +
                          ", found " + shapeText(of.shape())};
  const std::vector<double> values = run.values(of);
  const ArrayShape stack = stackOf(of);
  std::vector<double> found;
  for (Index i = 0; i < valueCount(stack); ++i) {
    run.visit(rows * cols * std::max<Index>(std::min(rows, cols), 1));
    const Doubles matrix = Eigen::Map<const Doubles>(values.data() + i * rows * cols, rows, cols);
    if (!matrix.allFinite()) throw EvaluationFault{"rank needs finite numbers, found infinity or NaN"};
    found.push_back(matrix.size() == 0
                        ? 0
                        : static_cast<double>(numericalRank(singularValues(matrix), std::max(rows, cols))));
  }
  return {stack, std::move(found)};
}

Array matrixProduct(Evaluation& run, Arguments arguments) {
  const Array &a = arguments[0], &b = arguments[1];
  requireMatrices(a, "matmul");
  requireMatrices(b, "matmul");
  const Index n = a.shape()[a.rank() - 2], k = a.shape()[a.rank() - 1], m = b.shape()[b.rank() - 1];
  const auto stack = broadcastShape(stackOf(a), stackOf(b));
  if (b.shape()[b.rank() - 2] != k || !stack)
    throw EvaluationFault{"matmul can't multiply " + shapeText(a.shape()) + " by " + shapeText(b.shape())};
  const auto all = [&](const Array& part, Index rows, Index cols) {
    ArrayShape shape = *stack;
    shape.insert(shape.end(), {rows, cols});
    return run.values(run.kept(part).broadcast(shape));
  };
  const std::vector<double> left = all(a, n, k), right = all(b, k, m);
  ArrayShape shape = *stack;
  shape.insert(shape.end(), {n, m});
  run.allocate(valueCount(shape));
  std::vector<double> values(static_cast<std::size_t>(valueCount(shape)));
  for (Index i = 0; i < valueCount(*stack); ++i) {
    Index work = 0;
    if (__builtin_mul_overflow(n * m, k, &work)) work = std::numeric_limits<Index>::max() / 2;
    run.visit(work);
    Eigen::Map<Doubles>(values.data() + i * n * m, n, m).noalias() =
        Eigen::Map<const Doubles>(left.data() + i * n * k, n, k) *
        Eigen::Map<const Doubles>(right.data() + i * k * m, k, m);
  }
  return {std::move(shape), std::move(values)};
}

}  // namespace headscope::attention
