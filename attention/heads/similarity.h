#pragma once

#include <span>
#include <stop_token>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the cosine similarity of each pair of heads, Σ A·B / (‖A‖·‖B‖) over all cells: [heads, heads],
/// from 0 to 1, 1 on the diagonal. All weights have the same shape [n, m] and aren't negative. Incomplete
/// once `stop` is requested.
Matrix cosineSimilarity(std::span<const Matrix> heads, std::stop_token stop = {});
/// The same by 1 − the mean over rows of the Jensen–Shannon divergence in bits (Lin 1991), for rows that sum
/// to 1. Rows in which both heads are 0 are skipped.
Matrix jensenShannonSimilarity(std::span<const Matrix> heads, std::stop_token stop = {});

/// Returns at most `most` evenly spaced rows, to limit the cost of comparing all pairs of heads.
Matrix evenlySpacedRows(const MatrixView& weights, Index most);

/// Returns the heads in an order that puts similar ones together: clusters are joined by the largest mean
/// likeness between their heads (average linkage), oriented so that the most similar ends meet. Ties keep the
/// original order.
std::vector<Index> similarityOrder(const Matrix& likeness);

}  // namespace headscope::attention
