#include <cstdlib>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

/// Mean over rows that see a key, in tokens. There are no distances to another text.
DetectorScore meanDistance(const ObservedHead& head) {
  if (head.text().crossAttention()) return {};
  double weighted = 0, even = 0;
  Index rows = 0;
  for (Index row = 0; row < head.rows(); ++row) {
    if (head.visible(row) == 0) continue;
    const Index place = head.text().positionOf(row);
    double reach = 0;
    for (Index key = 0; key < head.visibleEnd(row); ++key) {
      const auto distance = static_cast<double>(std::abs(place - key));
      weighted += static_cast<double>(head.weights()(row, key)) * distance;
      if (head.sees(row, key)) reach += distance;
    }
    even += reach / static_cast<double>(head.visible(row));
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
    .planted = std::nullopt,  // it is no behaviour
    .measure = meanDistance,
    .mayLabel = [](const HeadProfile&) { return false; },
    .unit = "tokens"};

}  // namespace headscope::attention::detectors
