#include <gtest/gtest.h>

#include "attention/core/decompositions.h"
#include "attention/core/random.h"

namespace headscope::attention::test {
namespace {

Matrix randomMatrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  return Matrix::NullaryExpr(rows, cols, [&random] { return random.gaussian(); });
}

/// The product element by element, by definition.
Matrix bySums(const Matrix& x, const Matrix& y) {
  Matrix all = Matrix::Zero(x.rows(), y.cols());
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < y.cols(); ++j) {
      double sum = 0;
      for (Index k = 0; k < x.cols(); ++k) sum += static_cast<double>(x(i, k)) * static_cast<double>(y(k, j));
      all(i, j) = static_cast<float>(sum);
    }
  return all;
}

void expectNear(const Matrix& found, const Matrix& wanted) {
  ASSERT_EQ(found.rows(), wanted.rows());
  ASSERT_EQ(found.cols(), wanted.cols());
  if (wanted.size() > 0) {
    EXPECT_LT((found - wanted).cwiseAbs().maxCoeff(), 1e-4f);
  }
}

TEST(Products, MatchTheDefinition) {
  for (const auto& [rows, inner, cols] :
       {std::tuple<Index, Index, Index>{1, 1, 1}, {3, 5, 7}, {17, 33, 65}, {64, 1, 9}}) {
    const Matrix x = randomMatrix(rows, inner, 1), y = randomMatrix(inner, cols, 2), wanted = bySums(x, y);
    expectNear(product(x, y), wanted);
    expectNear(timesTransposed(x, y.transpose()), wanted);
    expectNear(productInDouble(x.cast<double>(), y.cast<double>()).cast<float>(), wanted);
    expectNear(gramInDouble(x.cast<double>()).cast<float>(), bySums(x.transpose(), x));
  }
}

TEST(Products, AcceptSubmatrices) {
  const Matrix x = randomMatrix(9, 20, 3), y = randomMatrix(20, 30, 4);
  expectNear(product(x.middleCols(2, 11), y.block(3, 5, 11, 8)),
             bySums(x.middleCols(2, 11), y.block(3, 5, 11, 8)));
  expectNear(timesTransposed(x.middleCols(4, 8), y.block(1, 2, 6, 8)),
             bySums(x.middleCols(4, 8), y.block(1, 2, 6, 8).transpose()));
}

TEST(Products, EmptyInputGivesZero) {
  expectNear(product(Matrix(3, 0), Matrix(0, 4)), Matrix::Zero(3, 4));
  expectNear(product(Matrix(0, 2), Matrix(2, 4)), Matrix(0, 4));
  expectNear(timesTransposed(Matrix(3, 2), Matrix(0, 2)), Matrix(3, 0));
}

TEST(Products, RefuseMismatchedSizes) {
  EXPECT_THROW(product(Matrix::Zero(2, 3), Matrix::Zero(2, 3)), std::invalid_argument);
  EXPECT_THROW(timesTransposed(Matrix::Zero(2, 3), Matrix::Zero(3, 2)), std::invalid_argument);
  EXPECT_THROW(productInDouble(Eigen::MatrixXd::Zero(2, 3), Eigen::MatrixXd::Zero(2, 3)),
               std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
