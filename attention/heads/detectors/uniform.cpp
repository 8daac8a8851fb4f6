#include <cmath>

#include "attention/core/softmax.h"
#include "attention/heads/detectors/detector.h"

namespace headscope::attention::detectors {
namespace {

/// Returns the mean of H_i / ln(visible_i) over the rows with two or more visible keys. The ratio of uniform
/// attention is always 1.
DetectorScore entropyRatio(const ObservedHead& head) {
  double ratios = 0;
  Index rows = 0;
  for (Index row = 0; row < head.rows(); ++row) {
    if (head.visible(row) < 2) continue;
    ratios += entropy(head.weights().row(row).data(), head.visibleEnd(row)) /
              std::log(static_cast<double>(head.visible(row)));
    ++rows;
  }
  if (rows == 0) return {};
  return {static_cast<float>(ratios / static_cast<double>(rows)), 1, rows};
}

}  // namespace

extern const Detector uniform{.name = "uniform",
                              .title = "uniform",
                              .shortName = "uniform",
                              .help =
                                  "How evenly the weight is spread: mean of the entropy −Σ A[i][j]·ln "
                                  "A[i][j] over the largest possible, "
                                  "ln of the visible keys; 1 is uniform, 0 a single key.",
                              .planted = PlantedHead{Behaviour::uniform},
                              .measure = entropyRatio,
                              .mayLabel = [](const HeadProfile&) { return false; },
                              .fallbackLabelThreshold = 0.95f,
                              .compactName = [](Index) { return std::string("unif."); }};

}  // namespace headscope::attention::detectors
