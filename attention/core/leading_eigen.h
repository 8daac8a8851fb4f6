#pragma once

#include <optional>
#include <stop_token>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// The largest eigenvalues of a symmetric matrix without negative ones, descending, and their vectors as
/// rows.
struct LeadingEigen {
  Eigen::VectorXd values;
  Matrix rows;  ///< [count, side], orthonormal; of a matrix of zeros zero
};

/// The `count` leading ones of `gram` [side, side], in single precision, by a block of vectors that Chebyshev
/// polynomials turn towards them (Zhou, Saad, Tiago & Chelikowsky 2006, "Self-consistent-field calculations
/// using Chebyshev-filtered subspace iteration"; orthonormalised after Stathopoulos & Wu 2002). What the
/// vectors leave out of the matrix's trace is within about a thousandth of the least that can be; single
/// vectors of eigenvalues that lie close together needn't be the eigenvectors. Takes side²·count operations a
/// few dozen times, where all eigenvectors take side³. Nothing once `stop` is requested, which is looked at
/// often. Throws std::invalid_argument unless gram is square and count is 1 to side.
std::optional<LeadingEigen> leadingEigen(const Matrix& gram, Index count, const std::stop_token& stop = {});

/// Vectors that are held for so many: more than are wanted, so that the last converge too.
Index leadingBlock(Index count, Index side);

}  // namespace headscope::attention
