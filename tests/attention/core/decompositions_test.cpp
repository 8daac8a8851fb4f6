#include "attention/core/decompositions.h"

#include <gtest/gtest.h>

#include <complex>

#include "attention/core/random.h"

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

}  // namespace
}  // namespace headscope::attention::test
