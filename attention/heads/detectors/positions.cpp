#include <cstdlib>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {

extern const Detector firstToken{.name = "first_token",
                                 .title = "first token",
                                 .shortName = "first",
                                 .help =
                                     "The mean weight on the first token, an attention sink: mean of A[i][0] "
                                     "over the rows i ≥ 1 that see it.",
                                 .planted = PlantedHead{Behaviour::firstToken},
                                 .targets = [](const HeadText& text, Index row, std::vector<Index>& keys) {
                                   // For the first token this would be the same as attending to itself,
                                   // except in cross-attention.
                                   if (text.positionOf(row) >= 1 || text.crossAttention()) keys.push_back(0);
                                 }};

extern const Detector previous{
    .name = "previous",
    .title = "previous token",
    .shortName = "prev",
    .help = "The mean weight on the token before: mean of A[i][i−1] over the rows that see it.",
    .planted = PlantedHead{Behaviour::offset, 1},
    .targets = [](const HeadText& text, Index row,
                  std::vector<Index>& keys) { keys.push_back(text.positionOf(row) - 1); },
    .ofOneText = true};

extern const Detector next{
    .name = "next",
    .title = "next token",
    .shortName = "next",
    .help = "The mean weight on the token after: mean of A[i][i+1] over the rows that see it.",
    .planted = PlantedHead{Behaviour::offset, -1},
    .targets = [](const HeadText& text, Index row,
                  std::vector<Index>& keys) { keys.push_back(text.positionOf(row) + 1); },
    .ofOneText = true};

extern const Detector self{
    .name = "self",
    .title = "self",
    .shortName = "self",
    .help = "The mean weight on the token itself: mean of A[i][i] over the rows that see it.",
    .planted = PlantedHead{Behaviour::offset, 0},
    .targets = [](const HeadText& text, Index row,
                  std::vector<Index>& keys) { keys.push_back(text.positionOf(row)); },
    .ofOneText = true};

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

namespace {

/// Returns Σ |j − place| over the keys j < end.
double evenReach(Index place, Index end) {
  const auto before = static_cast<double>(std::min(place + 1, end)),
             behind = static_cast<double>(end) - before;
  return before * static_cast<double>(place) - before * (before - 1) / 2 + behind * (behind + 1) / 2;
}

/// Returns the mean over rows that see a key, in tokens. Doesn't apply to cross-attention.
DetectorScore meanDistance(const ObservedHead& head) {
  if (head.text().crossAttention()) return {};
  // |i − last|: each row's distances are a segment of this.
  const Index last = head.text().positionOf(std::max<Index>(head.rows(), 1) - 1);
  Vector reach(last + head.cols());
  for (Index i = 0; i < reach.size(); ++i) reach[i] = static_cast<float>(std::abs(i - last));
  double weighted = 0, even = 0;
  Index rows = 0;
  for (Index row = 0; row < head.rows(); ++row) {
    const Index seen = head.visible(row), end = head.visibleEnd(row), place = head.text().positionOf(row);
    if (seen == 0) continue;
    weighted += static_cast<double>(
        head.weights().row(row).head(end).dot(reach.segment(last - place, end).transpose()));
    double all = 0;
    if (seen == end) {
      all = evenReach(place, end);
    } else {
      for (Index key = 0; key < end; ++key)
        if (head.sees(row, key)) all += static_cast<double>(std::abs(key - place));
    }
    even += all / static_cast<double>(seen);
    ++rows;
  }
  if (rows == 0) return {};
  const auto count = static_cast<double>(rows);
  return {static_cast<float>(weighted / count), static_cast<float>(even / count), rows};
}

}  // namespace

extern const Detector distance{
    .name = "distance",
    .title = "mean distance",
    .shortName = "distance",
    .help = "How far the head looks, in tokens: mean over rows of Σ A[i][j]·|i − j|.",
    .planted = std::nullopt,  // not a behaviour
    .measure = meanDistance,
    .mayLabel = [](const HeadProfile&) { return false; },
    .unit = "tokens"};

}  // namespace headscope::attention::detectors
