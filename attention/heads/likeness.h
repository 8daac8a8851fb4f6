#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// How alike heads are, pair by pair: Σ A·B / (‖A‖·‖B‖) over all cells. All weights are [n, m] alike and not
/// negative. The answer is [heads, heads] between 0 and 1, 1 on the diagonal; incomplete once `stop` is
/// requested.
Matrix cosineLikeness(std::span<const Matrix> heads, std::stop_token stop = {});
/// The same as 1 − the mean over rows of the Jensen–Shannon divergence in bits (Lin 1991), for rows that sum
/// to 1; those in which both are 0 don't count.
Matrix jensenShannonLikeness(std::span<const Matrix> heads, std::stop_token stop = {});

/// At most `most` rows, evenly spaced: as many as comparing all pairs of heads has time for.
Matrix evenlySpacedRows(const MatrixView& weights, Index most);

/// The heads in an order in which like ones stand together: clusters are joined by the largest mean likeness
/// between their heads (average linkage), each turned so that its nearer ends meet. Ties keep the heads' own
/// order.
std::vector<Index> likenessOrder(const Matrix& likeness);

}  // namespace headscope::attention
