#include "attention/core/score_rows.h"
#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

DetectorScore meanLargest(const ObservedHead& head) {
  double largest = 0, even = 0;
  Index rows = 0;
  for (Index row = 0; row < head.rows(); ++row) {
    if (head.visible(row) == 0) continue;
    largest += static_cast<double>(largestOf(head.weights().row(row).data(), asSize(head.visibleEnd(row))));
    even += 1 / static_cast<double>(head.visible(row));
    ++rows;
  }
  if (rows == 0) return {};
  const auto count = static_cast<double>(rows);
  return {static_cast<float>(largest / count), static_cast<float>(even / count), rows};
}

}  // namespace

extern const Detector confidence{
    .name = "confidence",
    .title = "confidence",
    .shortName = "confid.",
    .help = "How much of a row its largest weight takes: mean of max over j of A[i][j].",
    .planted = std::nullopt,  // not a behaviour
    .measure = meanLargest,
    .mayLabel = [](const HeadProfile&) { return false; },
    .counted =
        [](const ObservedHead& head, const DetectorScore&, Index row, std::vector<Index>& keys) {
          if (head.visible(row) == 0) return;
          Index at = 0;
          head.weights().row(row).head(head.visibleEnd(row)).maxCoeff(&at);
          keys.push_back(at);
        }};

}  // namespace headscope::attention::detectors
