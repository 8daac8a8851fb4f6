#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

/// Mean over rows that see a key, in tokens. There are no distances to another text.
DetectorScore meanDistance(const ObservedHead& head) {
  if (head.text().crossAttention()) return {};
  using RowArray = Eigen::Array<float, 1, Eigen::Dynamic>;
  const RowArray places = RowArray::LinSpaced(head.cols(), 0, static_cast<float>(head.cols() - 1));
  RowArray distances(head.cols());
  double weighted = 0, even = 0;
  Index rows = 0;
  for (Index row = 0; row < head.rows(); ++row) {
    const Index seen = head.visible(row), end = head.visibleEnd(row);
    if (seen == 0) continue;
    const auto place = static_cast<float>(head.text().positionOf(row));
    auto reach = distances.head(end);
    reach = (places.head(end) - place).abs();
    weighted += (head.weights().row(row).head(end).array() * reach).sum();
    if (seen < end)
      for (Index key = 0; key < end; ++key)
        if (!head.sees(row, key)) reach[key] = 0;
    even += static_cast<double>(reach.sum()) / static_cast<double>(seen);
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
