#pragma once

#include <limits>

#include "attention/core/tensor.h"

namespace headscope::attention {

// Wraps Eigen's solvers so that they are compiled once; their templates are slow to compile.

/// Returns R of the matrix's thin QR decomposition, [min(rows, cols), cols].
Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& matrix);

/// Returns the min(rows, cols) singular values, descending, accurate to double's epsilon times the largest
/// (Golub and Van Loan, Matrix Computations, 8.6.1).
Eigen::VectorXd singularValues(const Eigen::MatrixXd& matrix);
/// Returns the number of singular values above largest · longerSide · epsilon, like NumPy's matrix_rank.
/// `epsilon` belongs to the format the matrix was computed in; smaller values are rounding errors.
Index numericalRank(const Eigen::VectorXd& singular, Index longerSide,
                    double epsilon = std::numeric_limits<float>::epsilon());

/// Returns the eigenvalues of a square matrix, in no particular order.
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& matrix);

/// Solves A·x = b for a symmetric A without negative eigenvalues.
Eigen::VectorXd solveSymmetric(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// Eigenvalues of a symmetric matrix, ascending, and their eigenvectors as columns.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigen symmetricEigen(const Eigen::MatrixXd& matrix);

/// The same for a Hermitian matrix A + iB: A is symmetric, B = −Bᵀ.
struct HermitianEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXcd vectors;
};
HermitianEigen hermitianEigen(const Eigen::MatrixXd& real, const Eigen::MatrixXd& imaginary);

}  // namespace headscope::attention
