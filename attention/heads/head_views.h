#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

// What people make of a head's weights [n, m] to look at. Rows that see nothing stay 0.

/// ‖v_j W_O‖ of every key, [m]: how much a head writes for it. v [m, headDim], o [modelDim, headDim] the
/// head's columns of W_O. Throws std::invalid_argument where headDim differs.
Vector writtenNorms(const MatrixView& v, const Eigen::Ref<const Matrix>& o);

/// A[i][j]·norms[j], rows summing to 1 again where anything is left of them: what of the output comes from
/// where (Kobayashi et al. 2020, "Attention is not only a weight", eq. 6, without the residual). norms [m].
Matrix valueWeighted(const MatrixView& weights, const Vector& norms);

/// Without the first key's column, rows summing to 1 again; one that looks at nothing else is 0.
Matrix withoutFirst(const MatrixView& weights);

/// Over the heads of [heads, n, m], cell by cell.
Matrix meanOverHeads(const Stack& weights);
Matrix maxOverHeads(const Stack& weights);

}  // namespace headscope::attention
