#pragma once

#include "app/scene/model_fit.h"
#include "attention/core/projections.h"

namespace headscope::app {

/// Which of the file's layers the shown one is, by the number in its names; −1: the only one.
Index layerOfFile(const Setup& setup);
/// The layer a weights file holds.
struct LayerWeights {
  attention::AttentionConfig config;
  attention::Projections projections;
};
attention::Result<LayerWeights> readLayerWeights(const Setup& setup, std::uint64_t budget);
/// Whether a file's layer is of the sizes that the scene has.
attention::Status checkLayer(const Setup& setup, const attention::AttentionConfig& found);

/// How many positions planted heads are made for in texts of `longest` tokens.
Index plantedReach(Index longest);

/// The seed of the shown layer's weights: of the first the scene's, of each other one of its own.
std::uint64_t layerSeed(const Setup& setup);
/// Whether a layer below the shown one has a planted head that looks at the previous token: the first such
/// carries that token on to the layers above.
bool carriedBelow(const Setup& setup);
/// Whether the shown layer is the one that does.
bool carriesPrevious(const Setup& setup);

/// The shown layer's weights by the Setup's choice: random, planted for texts of `longest` tokens, or a file.
attention::Result<attention::Projections> buildProjections(const Setup& setup, Index longest);

/// Why the heads of one of the layers can't be planted in so few dimensions; "" where they can, or aren't
/// planted.
std::string plantedMisfit(const Setup& setup);
/// By how many dimensions the shown layer's induction heads tell words apart, where that is too few; else 0.
Index narrowInduction(const Setup& setup);
/// Whether the same heads can be planted in another model; empty where they aren't planted.
Suits plantingSuits(const Setup& setup);

}  // namespace headscope::app
