#include "attention/core/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <limits>

namespace headscope::attention {

Eigen::VectorXd singularValues(const Eigen::MatrixXd& matrix) {
  return Eigen::BDCSVD<Eigen::MatrixXd>(matrix).singularValues();
}

Index numericalRank(const Eigen::VectorXd& singular, Index longerSide) {
  if (singular.size() == 0) return 0;
  const double least = singular.maxCoeff() * static_cast<double>(longerSide) *
                       static_cast<double>(std::numeric_limits<float>::epsilon());
  return (singular.array() > least).count();
}

Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& matrix) {
  return Eigen::EigenSolver<Eigen::MatrixXd>(matrix, false).eigenvalues();
}

SymmetricEigen symmetricEigen(const Eigen::MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

HermitianEigen hermitianEigen(const Eigen::MatrixXcd& matrix) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> solver(matrix);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace headscope::attention
