#pragma once

#include <optional>
#include <stop_token>

#include "attention/core/tensor.h"

namespace headscope::attention {

// Dense products in one place. Written where they are used, Eigen would compile each separately, a second
// apiece and without the processor's wide instructions. All throw std::invalid_argument, naming both inner
// sizes, if these differ.

/// Returns x·y for x [rows, inner] and y [inner, cols], by the kernels. Incomplete once `stop` is requested.
Matrix product(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& y,
               const std::stop_token& stop = {});
/// Returns x·wᵀ for x [rows, inner] and w [cols, inner]; otherwise like product().
Matrix timesTransposed(const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& w,
                       const std::stop_token& stop = {});

/// Returns a·b in double precision.
Eigen::MatrixXd productInDouble(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// Returns aᵀ·a in double precision.
Eigen::MatrixXd gramInDouble(const Eigen::MatrixXd& a);

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

/// The largest eigenvalues of a symmetric matrix without negative eigenvalues, descending, and their vectors
/// as rows.
struct LeadingEigen {
  Eigen::VectorXd values;
  Matrix rows;  ///< [count, side], orthonormal; zeros for a matrix of zeros
};

/// Returns the `count` leading eigenvalues and eigenvectors of `gram` [side, side], in single precision, by
/// Chebyshev-filtered subspace iteration (Zhou, Saad, Tiago & Chelikowsky 2006, "Self-consistent-field
/// calculations using Chebyshev-filtered subspace iteration"; orthonormalised after Stathopoulos & Wu 2002).
/// The part of the trace that the vectors don't explain is within about a thousandth of the minimum. For
/// eigenvalues close together, single vectors need not be eigenvectors. Takes a few dozen times side²·count
/// operations; computing all eigenvectors takes side³. Returns nothing once `stop` is requested, which is
/// checked often. Throws std::invalid_argument unless gram is square and count is 1 to side.
std::optional<LeadingEigen> leadingEigen(const Matrix& gram, Index count, const std::stop_token& stop = {});

/// Returns the number of vectors iterated for `count` wanted ones: a few more, so that the last converge too.
Index leadingBlock(Index count, Index side);

}  // namespace headscope::attention
