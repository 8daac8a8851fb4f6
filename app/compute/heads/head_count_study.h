#pragma once

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/spectrum.h"

namespace headscope::app {

/// One wide head against many small ones with the same number of parameters. All are drawn at random and run
/// on a line's tokens under its mask.
struct HeadCountQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index heads = 8;  ///< number of small heads; divides modelDim
  WeightInit init = WeightInit::xavier;
  float gain = 1;
  std::uint64_t seed = 7;
  bool operator==(const HeadCountQuestion&) const = default;
};

/// Returns the largest of kManyHeads that divides modelDim and is at most `asked`; 1 if there is none.
Index smallHeads(Index modelDim, Index asked);

/// The largest head dim whose singular values are computed.
inline constexpr Index kMaxSpectrum = 512;

/// The results for `heads` heads of headDim each.
struct HeadCountSide {
  Index heads = 1, headDim = 1;
  std::vector<StagePicture> weights;         ///< [heads], pooled; −inf if masked
  std::vector<attention::Spectrum> spectra;  ///< [heads] of W_Q·W_Kᵀ; empty if headDim is too large
  double entropy = 0;                        ///< mean over heads and rows of H / ln(visible)
  double likeness = 1;                       ///< mean cosine of two of the heads
};

struct HeadCountStudy {
  HeadCountQuestion question;
  HeadCountSide wide, small;
  std::uint64_t parameters = 0;  ///< of each side: W_Q, W_K, W_V and W_O
};

/// Pure. The result is incomplete if `stop` is requested.
HeadCountStudy studyHeadCounts(const HeadCountQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
