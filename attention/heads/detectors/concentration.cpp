#include <fmt/core.h>

#include <cmath>

#include "attention/core/activations.h"
#include "attention/core/score_terms.h"
#include "attention/heads/detectors/line_sums.h"

namespace headscope::attention::detectors {
namespace {

DetectorScore meanLargest(const ObservedHead& head) {
  RowMeans means;
  for (Index row = 0; row < head.rows(); ++row) {
    if (head.visible(row) == 0) continue;
    means.raw += static_cast<double>(largestOf(head.weights().row(row).data(), asSize(head.visibleEnd(row))));
    means.baseline += 1 / static_cast<double>(head.visible(row));
    ++means.rows;
  }
  return means.score();
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

namespace {

/// Returns the mean of H_i / ln(visible_i) over the rows with two or more visible keys. The ratio of uniform
/// attention is always 1.
DetectorScore entropyRatio(const ObservedHead& head) {
  RowMeans means;
  for (Index row = 0; row < head.rows(); ++row) {
    if (head.visible(row) < 2) continue;
    means.raw += entropy(head.weights().row(row).data(), head.visibleEnd(row)) /
                 std::log(static_cast<double>(head.visible(row)));
    ++means.baseline;
    ++means.rows;
  }
  return means.score();
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

namespace {

constexpr Index kSinkTokens = 4;  ///< as in Xiao et al. 2023
/// If the first token has this share of the weight, first_token labels the head.
constexpr float kMostOfSinks = 2.0f / 3;

}  // namespace

extern const Detector sinks{.name = "sinks",
                            .title = "first four tokens",
                            .shortName = "sinks",
                            .help =
                                "The mean weight on the first four tokens, the attention sinks: mean of Σ "
                                "A[i][j] over j < 4, over the "
                                "rows i ≥ 4 that see one (Xiao et al. 2023).",
                            .planted = std::nullopt,  // heads on the first token belong to first_token
                            .targets =
                                [](const HeadText& text, Index row, std::vector<Index>& keys) {
                                  if (text.positionOf(row) < kSinkTokens && !text.crossAttention()) return;
                                  for (Index key = 0; key < kSinkTokens; ++key) keys.push_back(key);
                                },
                            .mayLabel =
                                [](const HeadProfile& profile) {
                                  return profile["first_token"].raw < kMostOfSinks * profile["sinks"].raw;
                                },
                            .column = "sinks"};

namespace {

/// Returns the largest column mean over the rows that see it, excluding the token's own row.
DetectorScore brightestColumn(const ObservedHead& head) {
  LineSums columns(head.cols(), head.cols());
  for (Index row = 0; row < head.rows(); ++row) {
    const Index place = head.text().positionOf(row);
    const bool hasOwn = !head.text().crossAttention() && place < head.visibleEnd(row);
    columns.add(head, row, 0, hasOwn ? place : -1);
  }
  return columns.best(head.rows());
}

}  // namespace

extern const Detector stripe{
    .name = "stripe",
    .title = "stripe",
    .shortName = "stripe",
    .help =
        "The key with the most attention: the largest mean over i ≠ j of A[i][j] among the keys j that a "
        "quarter of the rows see.",
    .planted = std::nullopt,
    .measure = brightestColumn,
    // The first token has a separate detector.
    .mayLabel = [](const HeadProfile& profile) { return profile["stripe"].at > 0; },
    .titleOf = [](Index at) { return fmt::format("stripe at {}", at); },
    .compactName = [](Index at) { return fmt::format("at {}", at); },
    .counted =
        [](const ObservedHead& head, const DetectorScore& score, Index row, std::vector<Index>& keys) {
          if (head.text().crossAttention() || head.text().positionOf(row) != score.at)
            keys.push_back(score.at);
        }};

}  // namespace headscope::attention::detectors
