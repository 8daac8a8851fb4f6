#include <algorithm>
#include <cstdlib>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

using RowArray = Eigen::Array<float, 1, Eigen::Dynamic>;
using Sums = Eigen::Array<double, 1, Eigen::Dynamic>;

/// Sums along all diagonals i − j at once. Diagonal d is key − row = d − (rows − 1), so that a row adds to
/// adjacent elements.
struct Diagonals {
  explicit Diagonals(const ObservedHead& head)
      : weights(RowArray::Zero(head.rows() + head.cols())),
        baselines(Sums::Zero(weights.size())),
        counts(baselines) {
    RowArray visible(head.cols());
    // For rows whose visible keys have no gaps: changes at the first diagonal and after the last.
    Sums shareSteps = Sums::Zero(weights.size() + 1), countSteps = shareSteps;
    for (Index row = 0; row < head.rows(); ++row) {
      const Index size = head.visibleEnd(row), at = head.rows() - 1 - row;
      if (size == 0) continue;
      const auto weightsHere = head.weights().row(row).head(size).array();
      const double share = 1 / static_cast<double>(head.visible(row));
      if (head.visible(row) == size) {
        weights.segment(at, size) += weightsHere;
        shareSteps[at] += share, shareSteps[at + size] -= share;
        countSteps[at] += 1, countSteps[at + size] -= 1;
        continue;
      }
      for (Index j = 0; j < size; ++j) visible[j] = head.sees(row, j) ? 1.0f : 0.0f;
      const auto seen = visible.head(size);
      weights.segment(at, size) += weightsHere * seen;
      baselines.segment(at, size) += seen.cast<double>() * share;
      counts.segment(at, size) += seen.cast<double>();
    }
    double shares = 0, rows = 0;
    for (Index d = 0; d < weights.size(); ++d) {
      baselines[d] += shares += shareSteps[d];
      counts[d] += rows += countSteps[d];
    }
  }

  RowArray weights;
  Sums baselines, counts;
};

/// Returns the largest mean among the diagonals that at least a quarter of the rows see: with fewer rows, a
/// single strong key would count as an offset.
DetectorScore bestOffset(const ObservedHead& head) {
  const Diagonals sums(head);
  const auto fewest = static_cast<float>(std::max<Index>(1, (head.rows() + 3) / 4));
  DetectorScore best;
  // On ties, prefers later keys.
  for (Index d = sums.counts.size() - 1; d >= 0; --d) {
    const auto rows = static_cast<float>(sums.counts[d]);
    if (rows < fewest || (best.rows > 0 && !(sums.weights[d] / rows > best.raw))) continue;
    best = {sums.weights[d] / rows, static_cast<float>(sums.baselines[d]) / rows, static_cast<Index>(rows),
            head.text().positionOf(head.rows() - 1 - d)};
  }
  return best;
}

}  // namespace

extern const Detector offset{
    .name = "offset",
    .title = "n back",
    .shortName = "n back",
    .help =
        "The distance n that gets most weight: the largest mean of A[i][i−n] among all n that a quarter of "
        "the rows can show.",
    .planted = PlantedHead{Behaviour::offset, 3},
    .measure = bestOffset,
    // Self, the previous and the next token have separate detectors.
    .mayLabel = [](const HeadProfile& profile) { return std::abs(profile["offset"].at) > 1; },
    .titleOf =
        [](Index at) {
          return describe(PlantedHead{Behaviour::offset, at});
        },
    .compactName = [](Index at) { return (at < 0 ? "i+" : "i−") + std::to_string(std::abs(at)); },
    .counted = [](const ObservedHead& head, const DetectorScore& score, Index row,
                  std::vector<Index>& keys) { keys.push_back(head.text().positionOf(row) - score.at); },
    .ofOneText = true};

}  // namespace headscope::attention::detectors
