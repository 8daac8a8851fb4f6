#pragma once

#include "app/scene/model_fit.h"
#include "attention/core/projections.h"

namespace headscope::app {

/// Returns the file's layer for the shown one, by the number in its names; −1 = the only one.
Index layerOfFile(const Setup& setup);
/// A layer read from a weights file.
struct LayerWeights {
  attention::AttentionConfig config;
  attention::Projections projections;
};
attention::Result<LayerWeights> readLayerWeights(const Setup& setup, std::uint64_t budget);
/// Returns an Error unless the file's layer has the scene's sizes.
attention::Status checkLayer(const Setup& setup, const attention::AttentionConfig& found);

/// Returns the number of positions that planted heads support for texts of `longest` tokens.
Index plantedReach(Index longest);

/// Returns the seed of the shown layer's weights: the scene's for the first layer, a derived one for each
/// other.
std::uint64_t layerSeed(const Setup& setup);
/// Whether a layer below the shown one has a planted head that attends to the previous token. The first such
/// layer carries that token to the layers above.
bool carriedBelow(const Setup& setup);
/// Whether the shown layer is that first one.
bool carriesPrevious(const Setup& setup);

/// Returns the shown layer's weights from the Setup's source: random, planted for texts of `longest` tokens,
/// or a file.
attention::Result<attention::Projections> buildProjections(const Setup& setup, Index longest);

/// Returns why the heads of a layer can't be planted in so few dimensions; "" if they can or aren't planted.
std::string plantedMisfit(const Setup& setup);
/// Returns the number of dimensions by which the shown layer's induction heads tell words apart if it is too
/// small to work well, otherwise 0.
Index narrowInduction(const Setup& setup);
/// Returns a function that tells whether the same heads can be planted in another model; empty if heads
/// aren't planted.
Suits plantingSuits(const Setup& setup);

}  // namespace headscope::app
