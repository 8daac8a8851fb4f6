#include "attention/core/decompositions.h"

#include <gtest/gtest.h>

#include <complex>

#include "attention/cache/kv_cache.h"
#include "attention/core/random.h"
#include "tests/attention/core/attention_reference.h"

namespace headscope::attention::test {
namespace {

Eigen::MatrixXcd randomComplex(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  return Eigen::MatrixXcd::NullaryExpr(rows, cols, [&random] {
    const double real = random.gaussian();
    return std::complex<double>(real, random.gaussian());
  });
}

HermitianEigen solve(const Eigen::MatrixXcd& matrix) {
  return hermitianEigen(matrix.real(), matrix.imag());
}

/// Expects orthonormal columns that, weighted by their values, give the matrix again.
void expectDecomposed(const Eigen::MatrixXcd& matrix, const HermitianEigen& solved) {
  const Index size = matrix.rows();
  ASSERT_EQ(solved.values.size(), size);
  EXPECT_LT((solved.vectors.adjoint() * solved.vectors - Eigen::MatrixXcd::Identity(size, size)).norm(),
            1e-10);
  const Eigen::MatrixXcd again = solved.vectors * solved.values.asDiagonal() * solved.vectors.adjoint();
  EXPECT_LT((again - matrix).norm(), 1e-10 * (1 + matrix.norm()));
  for (Index i = 1; i < size; ++i) EXPECT_LE(solved.values(i - 1), solved.values(i) + 1e-12);
}

TEST(Decompositions, HermitianEigenReconstructsTheMatrix) {
  for (const Index size : {1, 2, 3, 8, 33}) {
    const Eigen::MatrixXcd parts = randomComplex(size, size + 2, 7 + static_cast<std::uint64_t>(size));
    expectDecomposed(parts * parts.adjoint(), solve(parts * parts.adjoint()));
  }
}

TEST(Decompositions, HermitianEigenHandlesRepeatedEigenvalues) {
  expectDecomposed(Eigen::MatrixXcd::Zero(4, 4), solve(Eigen::MatrixXcd::Zero(4, 4)));
  expectDecomposed(Eigen::MatrixXcd::Identity(5, 5), solve(Eigen::MatrixXcd::Identity(5, 5)));
  const Eigen::MatrixXcd few = randomComplex(9, 2, 11);  // seven values are zero
  expectDecomposed(few * few.adjoint(), solve(few * few.adjoint()));
  // A triple eigenvalue whose directions aren't axes.
  const HermitianEigen turned = solve(few * few.adjoint());
  Eigen::VectorXd values = Eigen::VectorXd::LinSpaced(9, 1, 9);
  values.segment(3, 3).setConstant(5);
  const Eigen::MatrixXcd matrix = turned.vectors * values.asDiagonal() * turned.vectors.adjoint();
  expectDecomposed(matrix, solve((matrix + matrix.adjoint()) / 2));
}

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

Matrix gramOf(const Matrix& a) {
  return (a.cast<double>() * a.cast<double>().transpose()).cast<float>();
}

/// Rows whose lengths decrease as `factor`^i.
Matrix fallingRows(Index rows, Index cols, float factor, std::uint64_t seed) {
  Matrix a = gaussianMatrix(rows, cols, seed);
  float length = 1;
  for (Index i = 0; i < rows; ++i) a.row(i) *= std::exchange(length, length * factor);
  return a;
}

/// The part of a matrix's trace that the vectors leave out, relative to the smallest possible part.
double leftOut(const Matrix& gram, const LeadingEigen& found) {
  const Eigen::VectorXd exact = symmetricEigen(gram.cast<double>()).values;
  const Eigen::MatrixXd rows = found.rows.cast<double>();
  const double held = (rows * gram.cast<double>() * rows.transpose()).trace();
  return (exact.sum() - held) / exact.head(exact.size() - rows.rows()).sum();
}

TEST(LeadingEigen, CapturesAsMuchTraceAsExactVectors) {
  // Pure noise, whose eigenvalues are close together, is the hardest case.
  for (const auto& [rows, cols] : {std::pair<Index, Index>{300, 350}, {300, 900}})
    for (const Index count : {4, 40, 100}) {
      const Matrix gram = gramOf(gaussianMatrix(rows, cols, 1));
      const auto found = leadingEigen(gram, count);
      ASSERT_TRUE(found);
      EXPECT_LT(leftOut(gram, *found), 1 + 1e-3) << rows << " × " << cols << ", " << count;
      EXPECT_LE(
          (timesTransposed(found->rows, found->rows) - Matrix::Identity(count, count)).cwiseAbs().maxCoeff(),
          1e-4f);
    }
}

TEST(LeadingEigen, MatchesExactVectorsForSeparatedEigenvalues) {
  const Matrix gram = gramOf(fallingRows(200, 260, 0.9f, 2));
  const auto found = leadingEigen(gram, 6);
  ASSERT_TRUE(found);
  const SymmetricEigen exact = symmetricEigen(gram.cast<double>());
  for (Index i = 0; i < 6; ++i) {
    EXPECT_NEAR(found->values(i) / exact.values(199 - i), 1, 1e-4) << i;
    EXPECT_NEAR(std::abs(exact.vectors.col(199 - i).dot(found->rows.row(i).transpose().cast<double>())), 1,
                1e-3)
        << i;
  }
}

TEST(LeadingEigen, HandlesWideSpectraAndLowRank) {
  const Matrix steep = gramOf(fallingRows(150, 200, 0.7f, 3));  // down to 1e-46 of the first
  const auto few = leadingEigen(steep, 20);
  ASSERT_TRUE(few && few->rows.allFinite());
  EXPECT_LE(few->values(0) - symmetricEigen(steep.cast<double>()).values(149), 1e-4 * few->values(0));
  const Matrix thin = gaussianMatrix(120, 5, 4);
  const auto five = leadingEigen(gramOf(thin), 12);
  ASSERT_TRUE(five && five->rows.allFinite());
  const Matrix back = thin.transpose() * five->rows.transpose() * five->rows;
  EXPECT_LE((back - thin.transpose()).cwiseAbs().maxCoeff(), 1e-3f);
  const auto none = leadingEigen(Matrix::Zero(30, 30), 3);
  ASSERT_TRUE(none && none->rows.allFinite());
  const auto all = leadingEigen(gramOf(gaussianMatrix(20, 40, 5)), 20);
  ASSERT_TRUE(all);
  EXPECT_LE((timesTransposed(all->rows, all->rows) - Matrix::Identity(20, 20)).cwiseAbs().maxCoeff(), 1e-4f);
}

TEST(LeadingEigen, StopsOnRequestAndRefusesInvalidSizes) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(leadingEigen(gramOf(gaussianMatrix(60, 70, 1)), 5, stop.get_token()));
  EXPECT_THROW((void)leadingEigen(Matrix::Zero(3, 4), 1), std::invalid_argument);
  EXPECT_THROW((void)leadingEigen(Matrix::Zero(3, 3), 4), std::invalid_argument);
  EXPECT_THROW((void)leadingEigen(Matrix::Zero(3, 3), 0), std::invalid_argument);
}

/// ‖W − W·P·Pᵀ‖² of keys and values.
double weightsLost(const Linear& keys, const Linear& values, const Matrix& p) {
  double lost = 0;
  for (const Linear* map : {&keys, &values})
    lost += static_cast<double>((map->weight - map->weight * p * p.transpose()).squaredNorm());
  return lost;
}

TEST(LeadingEigen, WideLatentsLoseNoMoreThanExactOnes) {
  // More outputs than inputs, and fewer. The 40 of 600 are found from a block, all 600 exactly.
  for (const auto& [d, outputs] : {std::pair<Index, Index>{600, 400}, {800, 300}}) {
    const Linear keys{gaussianMatrix(outputs, d, 1), {}}, values{gaussianMatrix(outputs, d, 2), {}};
    const Matrix p = latentDirections(keys, values, 40);
    ASSERT_EQ(p.cols(), 40);
    EXPECT_LE((p.transpose() * p - Matrix::Identity(40, 40)).cwiseAbs().maxCoeff(), 1e-3f);
    Matrix both(2 * outputs, d);
    both << keys.weight, values.weight;
    const Eigen::VectorXd squares = singularValues(both.cast<double>()).cwiseAbs2();
    EXPECT_LT(weightsLost(keys, values, p), squares.tail(squares.size() - 40).sum() * (1 + 1e-3));
  }
  EXPECT_EQ(mostLatent(600, 800), 600);
  EXPECT_EQ(mostLatent(4096, 8192), 1365);
  std::stop_source stop;
  stop.request_stop();
  const Linear wide{gaussianMatrix(600, 600, 1), {}};
  EXPECT_EQ(latentDirections(wide, wide, 40, stop.get_token()).cols(), 0);
}

}  // namespace
}  // namespace headscope::attention::test
