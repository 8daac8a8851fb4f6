#pragma once

#include <stop_token>
#include <vector>

#include "attention/core/attention.h"

namespace headscope::app {

/// What the heads look like: weights and scores with masked cells and dead rows marked as render/heatmap.h
/// says, max-pooled where a matrix is larger than kPictureLimit in either direction.
struct HeadPictures {
  static constexpr attention::Index kPictureLimit = 512;

  int factor = 1;            ///< cells pooled into one, per direction
  attention::Stack weights;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉]
  attention::Stack scores;
  std::vector<float> maxWeight;             ///< [heads]
  std::vector<float> minScore, maxScore;    ///< [heads], over finite scores; 0 where there are none
};

HeadPictures drawPictures(const attention::AttentionResult& result, std::stop_token stop);

/// One head at full size with its marks, [n, m].
attention::Matrix markedWeights(const attention::AttentionResult& result, attention::Index head);
attention::Matrix markedScores(const attention::AttentionResult& result, attention::Index head);

}  // namespace headscope::app
