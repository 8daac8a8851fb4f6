#pragma once

#include "app/compute/cache_studies.h"

namespace headscope::app {

// What the studies of a cache share.

/// Whether a layer is small enough to be computed again several times.
attention::Status fitsStudy(const attention::AttentionResult& result);
/// A picture's side when `size` cells are pooled to kStudyPixels.
Index pooledSide(Index size);
/// Pools values into one picture of a stack.
void intoPicture(const Eigen::Ref<const attention::Matrix>& values, attention::Stack& pictures, Index at);
/// ‖Δ‖/‖o‖ of two stacks of heads' outputs [heads, n, headDim].
OutputError outputError(const attention::Stack& full, const attention::Stack& other);
/// The heads again with other keys and values [kvHeads, m, headDim], under the same mask.
attention::AttentionResult attendAgain(const SequenceSnapshot& sequence, attention::AttentionConfig config,
                                       attention::Stack k, attention::Stack v, std::stop_token stop);

}  // namespace headscope::app
