#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

// Alternative views of a head's weights [n, m]. Rows without visible keys stay 0.

/// Returns ‖v_j W_O‖ for every key, [m]: how much a head writes for it. v is [m, headDim]; o [modelDim,
/// headDim] has the head's columns of W_O. Throws std::invalid_argument if headDim differs.
Vector writtenNorms(const MatrixView& v, const Eigen::Ref<const Matrix>& o);

/// Returns A[i][j]·norms[j] with rows renormalised to sum to 1, or 0 if nothing is left: how much each key
/// contributes to the output (Kobayashi et al. 2020, "Attention is not only a weight", eq. 6, without the
/// residual). norms is [m]; throws std::invalid_argument otherwise.
Matrix valueWeighted(const MatrixView& weights, const Vector& norms);

/// Returns the weights with the first key's column set to 0 and rows renormalised to sum to 1; a row without
/// other weight is 0.
Matrix withoutFirst(const MatrixView& weights);

/// The mean and the maximum over the heads of [heads, n, m], cell by cell.
Matrix meanOverHeads(const Stack& weights);
Matrix maxOverHeads(const Stack& weights);

}  // namespace headscope::attention
