#pragma once

#include <initializer_list>

#include "app/compute/cache/cache_studies.h"

namespace headscope::app {

// Helpers shared by the cache studies.

/// Reserves memory to recompute the heads of a line several times. Returns an Error that states the need if
/// it isn't free.
attention::Result<MemoryShare> studyMemory(const attention::AttentionConfig& config,
                                           const SequenceSnapshot& sequence, const Resources& resources,
                                           std::stop_token stop);
/// Returns a picture's side after pooling `size` cells to at most kStudyPixels.
Index pooledSide(Index size);
/// Pools values into one picture of a stack.
void intoPicture(const Eigen::Ref<const attention::Matrix>& values, attention::Stack& pictures, Index at);
/// Counts the memory of the pictures in the budget.
MemoryShare pictureMemory(std::initializer_list<const attention::Stack*> pictures,
                          const Resources& resources);
/// Returns ‖Δ‖/‖o‖ of two stacks of heads' outputs [heads, n, headDim].
OutputError outputError(const attention::Stack& full, const attention::Stack& other);
/// Recomputes the heads with other keys and values [kvHeads, m, headDim] under the same mask, without
/// dropout. The result covers the line's own tokens, without padding.
attention::AttentionResult attendAgain(const SequenceSnapshot& sequence, attention::AttentionConfig config,
                                       attention::Stack k, attention::Stack v, std::stop_token stop);

/// Heads whose keys and values come from a latent, and the numbers per token in it.
struct LatentHeads {
  attention::AttentionResult result;
  Index latent = 0, rotary = 0;
};
/// Converts a finished layer to latent attention by factoring its projections; its queries stay. Rotated keys
/// get a rotary part of `rotary` numbers, or fewer if fewer dimensions are rotated; other keys get none.
/// Returns an Error if the layer is too large to factor, rotates neighbouring dimensions, or has invalid
/// text, weights or model, or "stopped" if `stop` is requested.
attention::Result<LatentHeads> attendLatent(const std::shared_ptr<const Snapshot>& snapshot, Index line,
                                            Index latent, Index rotary, Resources& resources,
                                            std::stop_token stop);

}  // namespace headscope::app
