#include "attention/core/decompositions.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

namespace headscope::attention {

Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& matrix) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(matrix);
  return qr.matrixQR().topRows(std::min(matrix.rows(), matrix.cols())).triangularView<Eigen::Upper>();
}

Eigen::VectorXd singularValues(const Eigen::MatrixXd& matrix) {
  const Index count = std::min(matrix.rows(), matrix.cols());
  if (count == 0) return {};
  // The eigenvalues of [0 R; Rᵀ 0] are R's singular values and their negatives. Eigen's SVD takes half a
  // minute to compile.
  const Eigen::MatrixXd triangle =
      matrix.rows() < matrix.cols() ? triangularFactor(matrix.transpose()) : triangularFactor(matrix);
  Eigen::MatrixXd both = Eigen::MatrixXd::Zero(2 * count, 2 * count);
  both.topRightCorner(count, count) = triangle;
  both.bottomLeftCorner(count, count) = triangle.transpose();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(both, Eigen::EigenvaluesOnly);
  return solver.eigenvalues().tail(count).reverse().cwiseMax(0);
}

Index numericalRank(const Eigen::VectorXd& singular, Index longerSide, double epsilon) {
  if (singular.size() == 0) return 0;
  const double least = singular.maxCoeff() * static_cast<double>(longerSide) * epsilon;
  return (singular.array() > least).count();
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& matrix) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(matrix, false).eigenvalues();
}

Eigen::VectorXd solveSymmetric(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  return a.ldlt().solve(b);
}

SymmetricEigen symmetricEigen(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

HermitianEigen hermitianEigen(const Eigen::MatrixXd& real, const Eigen::MatrixXd& imaginary) {
  // [A −B; B A] has each eigenvalue of A + iB twice: an eigenvector x + iy gives (x; y) and (−y; x), or any
  // two directions in their plane. A vector is kept only if it isn't a complex combination of earlier ones.
  // This avoids Eigen's complex solver, which takes as long to compile as the real one.
  const Index size = real.rows();
  Eigen::MatrixXd both(2 * size, 2 * size);
  both << real, -imaginary, imaginary, real;
  const SymmetricEigen solved = symmetricEigen(both);
  HermitianEigen result{Eigen::VectorXd::Zero(size), Eigen::MatrixXcd::Zero(size, size)};
  Index found = 0;
  for (Index i = 0; i < 2 * size && found < size; ++i) {
    Eigen::VectorXcd vector(size);
    vector.real() = solved.vectors.col(i).head(size);
    vector.imag() = solved.vectors.col(i).tail(size);
    for (Index j = 0; j < found; ++j) vector -= result.vectors.col(j).dot(vector) * result.vectors.col(j);
    const double left = vector.norm();
    if (left < 1e-3) continue;
    result.values(found) = solved.values(i);
    result.vectors.col(found++) = vector / left;
  }
  return result;
}

}  // namespace headscope::attention
