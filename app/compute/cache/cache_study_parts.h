#pragma once

#include <initializer_list>

#include "app/compute/cache/cache_studies.h"

namespace headscope::app {

// What the studies of a cache share.

/// Memory to compute the heads of a line again, several times over, or a sentence on what it would need.
attention::Result<MemoryShare> studyMemory(const attention::AttentionConfig& config,
                                           const SequenceSnapshot& sequence, const Resources& resources,
                                           std::stop_token stop);
/// A picture's side when `size` cells are pooled to kStudyPixels.
Index pooledSide(Index size);
/// Pools values into one picture of a stack.
void intoPicture(const Eigen::Ref<const attention::Matrix>& values, attention::Stack& pictures, Index at);
/// What pictures hold, as a part of the budget.
MemoryShare pictureMemory(std::initializer_list<const attention::Stack*> pictures,
                          const Resources& resources);
/// ‖Δ‖/‖o‖ of two stacks of heads' outputs [heads, n, headDim].
OutputError outputError(const attention::Stack& full, const attention::Stack& other);
/// The heads again with other keys and values [kvHeads, m, headDim], under the same mask and without dropout;
/// of the line's own tokens, without those that pad it.
attention::AttentionResult attendAgain(const SequenceSnapshot& sequence, attention::AttentionConfig config,
                                       attention::Stack k, attention::Stack v, std::stop_token stop);

/// The heads with keys and values that come out of a latent, and how many numbers a token has in it.
struct LatentHeads {
  attention::AttentionResult result;
  Index latent = 0, rotary = 0;
};
/// A finished layer as latent attention: its maps are taken apart, its queries are as they were. Keys that
/// positions turn get a rotary part of that size (less where there is less to turn), all others none.
/// Errors: a layer too large to be taken apart, and what its text, weights and model refuse.
attention::Result<LatentHeads> attendLatent(const std::shared_ptr<const Snapshot>& snapshot, Index line,
                                            Index latent, Index rotary, Resources& resources,
                                            std::stop_token stop);

}  // namespace headscope::app
