#include <cstdlib>

#include "attention/heads/detectors/line_sums.h"

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

/// Returns the largest mean of a diagonal; on ties, of later keys. Diagonal d is key − row = d − (rows − 1),
/// so that a row adds to adjacent sums.
DetectorScore bestOffset(const ObservedHead& head) {
  LineSums diagonals(head.rows() + head.cols(), head.cols());
  for (Index row = 0; row < head.rows(); ++row) diagonals.add(head, row, head.rows() - 1 - row);
  DetectorScore best = diagonals.best(head.rows(), true);
  if (best.rows > 0) best.at = head.text().positionOf(head.rows() - 1 - best.at);
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
  RowMeans means;
  for (Index row = 0; row < head.rows(); ++row) {
    const Index seen = head.visible(row), end = head.visibleEnd(row), place = head.text().positionOf(row);
    if (seen == 0) continue;
    means.raw += static_cast<double>(
        head.weights().row(row).head(end).dot(reach.segment(last - place, end).transpose()));
    double all = 0;
    if (seen == end) {
      all = evenReach(place, end);
    } else {
      for (Index key = 0; key < end; ++key)
        if (head.sees(row, key)) all += static_cast<double>(std::abs(key - place));
    }
    means.baseline += all / static_cast<double>(seen);
    ++means.rows;
  }
  return means.score();
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
