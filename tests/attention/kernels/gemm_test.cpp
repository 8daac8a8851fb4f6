#include "attention/kernels/gemm.h"

#include <gtest/gtest.h>

#include <limits>

#include "attention/core/projections.h"
#include "attention/core/textbook.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/core/heads_problem.h"

namespace headscope::attention::test {
namespace {

constexpr float kEpsilon = std::numeric_limits<float>::epsilon();

void expectLinear(Index rows, Index in, Index out, bool bias) {
  Linear linear{gaussianMatrix(out, in, 1), {}};
  if (bias) linear.bias = gaussianMatrix(out, 1, 2);
  const Matrix x = gaussianMatrix(rows, in, 3);
  const Matrix expected = applyTextbook(linear, x), found = linear.apply(x);
  Matrix limits = x.cwiseAbs() * linear.weight.cwiseAbs().transpose();
  if (bias) limits.rowwise() += linear.bias.cwiseAbs().transpose();
  limits *= static_cast<float>(in + 1) * kEpsilon;
  ASSERT_EQ(found.rows(), rows);
  ASSERT_EQ(found.cols(), out);
  expectClose(expected.data(), found.data(), limits.data(), 1, rows, out,
              shapeText(rows, in) + " · " + shapeText(in, out) + (bias ? " + bias" : ""));
}

TEST(Gemm, equalsEigenAtEverySizeAroundTheBlocks) {
  for (const Index rows : {1, 2, 3, 5, 6, 7, 11, 12, 13, 25})
    for (const Index in : {1, 3, 8, 31, 255, 256, 257})
      for (const Index out : {1, 15, 16, 33, 63, 64, 65, 130}) {
        expectLinear(rows, in, out, (rows + in + out) % 2 == 0);
        if (HasFailure()) return;
      }
}

TEST(Gemm, equalsEigenWhereTasksAreMany) {
  expectLinear(769, 257, 100, true);
  expectLinear(1601, 40, 65, false);
  expectLinear(1, 1031, 517, true);
  expectLinear(2, 1031, 517, true);
  expectLinear(300, 1031, 61, true);
}

TEST(Gemm, readsViewsWithAStride) {
  const Linear linear{gaussianMatrix(70, 20, 1), {}};
  const Matrix wide = gaussianMatrix(30, 45, 2);
  for (const Index rows : {1, 30}) {
    const auto part = wide.block(0, 7, rows, 20);
    const Matrix copy = part;
    EXPECT_EQ(linear.apply(part), linear.apply(copy));
  }
}

TEST(Gemm, groupedColumnsGoWhereTheyBelong) {
  // Inputs and outputs in heads of odd width, as W_O reads and W_Q writes them; what lies between stays.
  for (const Index rows : {1, 2, 29}) {
    const Index in = 5 * 13, out = 7 * 19;
    const Matrix x = gaussianMatrix(rows, in, 3);
    const Linear linear{gaussianMatrix(out, in, 4), gaussianMatrix(out, 1, 5)};
    const Stack groups = splitHeads(x, 5);
    Stack y(7, rows + 1, 19);
    std::fill_n(y.data(), y.size(), 42.0f);
    const auto size = [](Index i) { return static_cast<std::size_t>(i); };
    const kernels::LinearMap map{
        linear.weight.data(), linear.bias.data(), size(out), {y.data(), 19, 19, size(19 * (rows + 1))}};
    ASSERT_TRUE(kernels::applyMaps(kernels::sharedPool(), size(rows), size(in),
                                   {groups.data(), 13, 13, size(13 * rows)}, {&map, 1}));
    const Matrix whole = linear.apply(x);
    for (Index h = 0; h < 7; ++h) {
      EXPECT_EQ(y[h].topRows(rows), whole.middleCols(h * 19, 19)) << "head " << h;
      EXPECT_TRUE((y[h].row(rows).array() == 42).all()) << "head " << h;
    }
  }
}

TEST(Gemm, aRequestedStopIsAnswered) {
  std::stop_source source;
  source.request_stop();
  Matrix x = gaussianMatrix(40, 8, 1), y = Matrix::Zero(40, 8);
  const kernels::LinearMap map{x.data(), nullptr, 8, {y.data(), 8, 8, 0}};
  for (const std::size_t rows : {1, 40})
    EXPECT_FALSE(kernels::applyMaps(kernels::sharedPool(), rows, 8, {x.data(), 8, 8, 0}, {&map, 1},
                                    source.get_token()));
  EXPECT_TRUE(y.isZero(0));
}

}  // namespace
}  // namespace headscope::attention::test
