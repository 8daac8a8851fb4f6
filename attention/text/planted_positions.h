#pragma once

#include "attention/text/embedding.h"

namespace headscope::attention {

/// What embedPlanted() adds for places alone: the flag of the text's first token, and where `sinusoidal` the
/// sinusoids; zeros elsewhere. Rows are positions first … first+count−1, [count, modelDim].
Matrix plantedPositions(const EmbeddingLayout& layout, Index first, Index count, bool sinusoidal);

}  // namespace headscope::attention
