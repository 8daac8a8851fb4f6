#include <algorithm>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

constexpr Index kWidth = 2;  ///< w in |i − j| ≤ w
/// If one offset has this share of the band's weight, the head isn't a local band.
constexpr float kMostOfBand = 2.0f / 3;

/// Whether the weight is spread over several offsets.
bool isSpread(const HeadProfile& profile) {
  const float strongest =
      std::max({profile["self"].raw, profile["previous"].raw, profile["next"].raw, profile["offset"].raw});
  return strongest < kMostOfBand * profile["local_band"].raw;
}

}  // namespace

extern const Detector localBand{
    .name = "local_band",
    .title = "local band",
    .shortName = "local",
    .help = "The mean weight on the token and its nearest neighbours: mean of Σ A[i][j] over |i − j| ≤ 2.",
    .planted = PlantedHead{Behaviour::localBand},
    .targets =
        [](const HeadText& text, Index row, std::vector<Index>& keys) {
          for (Index j = -kWidth; j <= kWidth; ++j) keys.push_back(text.positionOf(row) + j);
        },
    .mayLabel = isSpread,
    .ofOneText = true};

}  // namespace headscope::attention::detectors
