#pragma once

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/spectrum.h"

namespace headscope::app {

/// One wide head and many small ones of as many parameters, drawn at random, on a line's tokens and under its
/// mask.
struct HeadCountQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index heads = 8;  ///< of the small ones; divides modelDim
  WeightInit init = WeightInit::xavier;
  float gain = 1;
  std::uint64_t seed = 7;
  bool operator==(const HeadCountQuestion&) const = default;
};

/// The most of kManyHeads that divides the model dim and is not above `asked`; 1 where none does.
Index smallHeads(Index modelDim, Index asked);

/// The largest head dim whose singular values are worked out.
inline constexpr Index kMostSpectrum = 512;

/// So many heads of headDim each.
struct HeadCountSide {
  Index heads = 1, headDim = 1;
  std::vector<StagePicture> weights;         ///< [heads], pooled; −inf where it is masked
  std::vector<attention::Spectrum> spectra;  ///< [heads] of W_Q·W_Kᵀ; empty where headDim is too large
  double entropy = 0;                        ///< mean over heads and rows of H / ln(visible)
  double likeness = 1;                       ///< mean cosine of two of its heads
};

struct HeadCountStudy {
  HeadCountQuestion question;
  HeadCountSide wide, small;
  std::uint64_t parameters = 0;  ///< of each: W_Q, W_K, W_V and W_O
};

/// Pure. Incomplete once `stop` is requested.
HeadCountStudy studyHeadCounts(const HeadCountQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
