#pragma once

#include <limits>

#include "attention/core/tensor.h"

namespace headscope::attention {

// Eigen's solvers, compiled once: their templates take longer to compile than all that uses them.

/// R of the thin QR of a matrix, [min(rows, cols), cols].
Eigen::MatrixXd triangularFactor(const Eigen::MatrixXd& matrix);

/// Singular values of a matrix, min(rows, cols) of them, descending; exact to the largest one · epsilon of
/// double. Golub and Van Loan, Matrix Computations, 8.6.1.
Eigen::VectorXd singularValues(const Eigen::MatrixXd& matrix);
/// How many singular values are above largest · longer side · epsilon, as NumPy's matrix_rank counts.
/// `epsilon` is that of the format in which the matrix was computed: what is below is rounding.
Index numericalRank(const Eigen::VectorXd& singular, Index longerSide,
                    double epsilon = std::numeric_limits<float>::epsilon());

/// Eigenvalues of a square matrix, in no order.
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& matrix);

/// x of A·x = b for a symmetric A without negative eigenvalues.
Eigen::VectorXd solveSymmetric(const Eigen::MatrixXd& a, const Eigen::VectorXd& b);

/// Of a symmetric matrix, ascending by value; vectors are columns.
struct SymmetricEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
};
SymmetricEigen symmetricEigen(const Eigen::MatrixXd& matrix);

/// The same of A + iB that equals its conjugate transpose: A is symmetric, B = −Bᵀ.
struct HermitianEigen {
  Eigen::VectorXd values;
  Eigen::MatrixXcd vectors;
};
HermitianEigen hermitianEigen(const Eigen::MatrixXd& real, const Eigen::MatrixXd& imaginary);

}  // namespace headscope::attention
