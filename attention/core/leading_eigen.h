#pragma once

#include <optional>
#include <stop_token>

#include "attention/core/tensor.h"

namespace headscope::attention {

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
