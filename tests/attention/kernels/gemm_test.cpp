#include "attention/kernels/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "attention/core/projections.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/core/heads_problem.h"
#include "tests/attention/core/textbook.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

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

TEST(Gemm, MatchesEigenAroundBlockSizes) {
  for (const Index rows : {1, 2, 3, 5, 6, 7, 11, 12, 13, 25})
    for (const Index in : {1, 3, 8, 31, 257, 767, 768, 769})
      for (const Index out : {1, 15, 16, 33, 63, 64, 65, 130}) {
        expectLinear(rows, in, out, (rows + in + out) % 2 == 0);
        if (HasFailure()) return;
      }
}

TEST(Gemm, EqualsEigenWithManyTasks) {
  expectLinear(769, 257, 100, true);
  expectLinear(1601, 40, 65, false);
  expectLinear(1, 1031, 517, true);
  expectLinear(2, 1031, 517, true);
  expectLinear(300, 1031, 61, true);
}

TEST(Gemm, ReadsStridedViews) {
  const Linear linear{gaussianMatrix(70, 20, 1), {}};
  const Matrix wide = gaussianMatrix(30, 45, 2);
  for (const Index rows : {1, 30}) {
    const auto part = wide.block(0, 7, rows, 20);
    const Matrix copy = part;
    EXPECT_EQ(linear.apply(part), linear.apply(copy));
  }
}

TEST(Gemm, WritesGroupedColumnsToTheirHeads) {
  // Inputs and outputs in heads of odd width, as W_O reads and W_Q writes them; gaps between heads stay
  // unchanged.
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

/// The matrix as numbers of a type, stored at odd bytes. Also rounds `matrix` to that type.
template <typename Number>
std::vector<std::uint8_t> numbersOf(Matrix& matrix) {
  std::vector<std::uint8_t> bytes(1);
  for (Index i = 0; i < matrix.size(); ++i) {
    const auto number = static_cast<Number>(matrix.data()[i]);
    const auto* const first = reinterpret_cast<const std::uint8_t*>(&number);
    bytes.insert(bytes.end(), first, first + sizeof number);
    matrix.data()[i] = static_cast<float>(number);
  }
  return bytes;
}

std::vector<std::uint8_t> numbersOf(Matrix& matrix, kernels::WeightType type) {
  switch (type) {
    case kernels::WeightType::f16:
      return numbersOf<Eigen::half>(matrix);
    case kernels::WeightType::bf16:
      return numbersOf<Eigen::bfloat16>(matrix);
    case kernels::WeightType::f64:
      return numbersOf<double>(matrix);
    default:
      return numbersOf<float>(matrix);
  }
}

TEST(Gemm, MatchesForEveryWeightTypeAndLayout) {
  using kernels::WeightType;
  for (const WeightType type : {WeightType::f32, WeightType::f16, WeightType::bf16, WeightType::f64})
    for (const bool transposed : {false, true})
      for (const auto& [rows, in, out] : {std::array<Index, 3>{1, 300, 530},
                                          {1, 7, 5},
                                          {2, 33, 65},
                                          {13, 257, 100},
                                          {13, 1540, 70},
                                          {29, 31, 17}}) {
        // A part of a wider matrix, like the queries in a fused one.
        Matrix wide = gaussianMatrix(transposed ? in : out, (transposed ? out : in) + 3, 4);
        const auto bytes = numbersOf(wide, type);
        const Matrix x = gaussianMatrix(rows, in, 5), bias = gaussianMatrix(out, 1, 6);
        Linear linear{
            transposed ? Matrix(wide.middleCols(2, out).transpose()) : Matrix(wide.middleCols(2, in)), bias};
        Matrix found = Matrix::Constant(rows, out, 42);
        const auto size = [](Index i) { return static_cast<std::size_t>(i); };
        const kernels::LinearMap map{bytes.data() + 1 + kernels::weightBytes(type, 2),
                                     bias.data(),
                                     size(out),
                                     {found.data(), size(out), size(out), 0},
                                     type,
                                     transposed,
                                     size(wide.cols())};
        ASSERT_TRUE(kernels::applyMaps(kernels::sharedPool(), size(rows), size(in),
                                       {x.data(), size(in), size(in), 0}, {&map, 1}));
        Matrix limits = x.cwiseAbs() * linear.weight.cwiseAbs().transpose();
        limits.rowwise() += linear.bias.cwiseAbs().transpose();
        limits *= static_cast<float>(in + 1) * kEpsilon;
        const Matrix expected = applyTextbook(linear, x);
        expectClose(expected.data(), found.data(), limits.data(), 1, rows, out,
                    "type " + std::to_string(static_cast<int>(type)) + (transposed ? ", transposed" : "") +
                        shapeText(rows, in) + " to " + std::to_string(out));
      }
}

TEST(Gemm, StopRequestSkipsWork) {
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
