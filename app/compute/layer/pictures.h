#pragma once

#include <stop_token>
#include <vector>

#include "app/scene/scene.h"
#include "attention/core/attention.h"

namespace headscope::app {

/// All heads at one size: weights and scores, with masked cells and dead rows marked as in render/heatmap.h.
/// factor × factor cells are max-pooled into one, so that a single bright cell stays visible.
struct PictureLevel {
  int factor = 1;
  attention::Stack weights, scores;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉]
  attention::Stack dropped;          ///< the weights after dropout; empty if there is none
  const attention::Stack& of(Quantity quantity) const {
    return quantity == Quantity::scores                       ? scores
           : quantity == Quantity::weights || dropped.empty() ? weights
                                                              : dropped;
  }
};

/// Pictures of the heads from fine to coarse, each level half the size of the one before.
struct HeadPictures {
  static constexpr Index kFinest = 512, kCoarsest = 48;  ///< cells along the longer side

  std::vector<PictureLevel> levels;
  std::vector<float> maxWeight;           ///< [heads], after dropout; never below the maximum before it
  std::vector<float> minScore, maxScore;  ///< [heads], over finite scores; 0 if there are none
  float aroundZero = 0;  ///< ends of a scale around 0 for recorded weights of which some are negative; else 0

  /// Returns the finest level whose cells are at least one pixel large when the longer side of a head takes
  /// `pixels`.
  const PictureLevel& levelFor(float pixels) const;
};

/// `probabilities`: the weights before dropout; result.weights itself if there is none.
HeadPictures drawPictures(const attention::AttentionResult& result, const attention::Stack& probabilities,
                          std::stop_token stop);

/// Returns one head of `values` [heads, n, m], which belong to `result`, with marks, max-pooled by `factor`:
/// [⌈n/factor⌉, ⌈m/factor⌉].
attention::Matrix drawHead(const attention::AttentionResult& result, const attention::Stack& values,
                           Index head, int factor);

}  // namespace headscope::app
