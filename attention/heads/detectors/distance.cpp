#include <algorithm>
#include <cstdlib>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
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
