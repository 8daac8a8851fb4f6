#include <fmt/core.h>

#include <algorithm>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

using RowArray = Eigen::Array<float, 1, Eigen::Dynamic>;

/// The largest mean of a column over the rows that see it, without the token's own; among the columns that a
/// quarter of the rows see: where few do, any bright cell would pass for a stripe.
DetectorScore brightestColumn(const ObservedHead& head) {
  const HeadText& text = head.text();
  RowArray weights = RowArray::Zero(head.cols()), baselines = weights, counts = weights;
  RowArray visible(head.cols());
  for (Index row = 0; row < head.rows(); ++row) {
    const Index size = head.visibleEnd(row);
    if (size == 0) continue;
    const bool all = head.visible(row) == size;
    for (Index j = 0; j < size; ++j) visible[j] = all || head.sees(row, j) ? 1.0f : 0.0f;
    if (const Index own = text.positionOf(row); !text.crossAttention() && own < size) visible[own] = 0;
    const auto seen = visible.head(size);
    weights.head(size) += head.weights().row(row).head(size).array() * seen;
    baselines.head(size) += seen * (1 / static_cast<float>(head.visible(row)));
    counts.head(size) += seen;
  }
  const auto fewest = static_cast<float>(std::max<Index>(1, (head.rows() + 3) / 4));
  DetectorScore best;
  for (Index j = 0; j < head.cols(); ++j) {
    if (counts[j] < fewest || (best.rows > 0 && !(weights[j] / counts[j] > best.raw))) continue;
    best = {weights[j] / counts[j], baselines[j] / counts[j], static_cast<Index>(counts[j]), j};
  }
  return best;
}

}  // namespace

extern const Detector stripe{
    .name = "stripe",
    .title = "vertical stripe",
    .shortName = "stripe",
    .help =
        "The key with the most attention: the largest mean over i ≠ j of A[i][j] among the keys j that a "
        "quarter of the rows see.",
    .planted = std::nullopt,
    .measure = brightestColumn,
    // The first token has a name of its own.
    .mayLabel = [](const HeadProfile& profile) { return profile["stripe"].at > 0; },
    .titleOf = [](Index at) { return fmt::format("stripe at {}", at); },
    .tightName = [](Index at) { return fmt::format("j={}", at); },
    .counted =
        [](const ObservedHead& head, const DetectorScore& score, Index row, std::vector<Index>& keys) {
          if (head.text().crossAttention() || head.text().positionOf(row) != score.at)
            keys.push_back(score.at);
        }};

}  // namespace headscope::attention::detectors
