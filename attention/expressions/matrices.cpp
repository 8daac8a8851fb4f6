#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/decompositions.h"
#include "attention/expressions/functions.h"

namespace headscope::attention {

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

Array ranks(Evaluation& run, const Array& of) {
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

Array matrixProduct(Evaluation& run, const Array& a, const Array& b) {
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
