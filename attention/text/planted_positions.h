#pragma once

#include "attention/text/embedding.h"

namespace headscope::attention {

/// Returns the part of embedPlanted() that depends on positions only, [count, modelDim]: the flag of the
/// text's first token and, if `sinusoidal`, the sinusoids; zeros elsewhere. Rows are positions first …
/// first+count−1.
Matrix plantedPositions(const EmbeddingLayout& layout, Index first, Index count, bool sinusoidal);

}  // namespace headscope::attention
