#include <fmt/core.h>

#include <cmath>

#include "attention/core/activations.h"
#include "attention/core/score_terms.h"
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

namespace {

constexpr Index kSinkTokens = 4;  ///< as in Xiao et al. 2023
/// If the first token has this share of the weight, first_token labels the head.
constexpr float kMostOfSinks = 2.0f / 3;

}  // namespace

extern const Detector sinks{.name = "sinks",
                            .title = "first tokens",
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

using RowArray = Eigen::Array<float, 1, Eigen::Dynamic>;
using Sums = Eigen::Array<double, 1, Eigen::Dynamic>;

/// Returns the largest column mean over the rows that see it, excluding the token's own row, among columns
/// seen by at least a quarter of the rows: with fewer rows, a single strong cell would count as a stripe.
DetectorScore brightestColumn(const ObservedHead& head) {
  const HeadText& text = head.text();
  RowArray weights = RowArray::Zero(head.cols()), visible(head.cols());
  Sums baselines = Sums::Zero(head.cols()), counts = baselines;
  // For rows whose visible keys have no gaps: changes at the first column and after the last.
  Sums shareSteps = Sums::Zero(head.cols() + 1), countSteps = shareSteps;
  for (Index row = 0; row < head.rows(); ++row) {
    const Index size = head.visibleEnd(row);
    if (size == 0) continue;
    const auto weightsHere = head.weights().row(row).head(size).array();
    const double share = 1 / static_cast<double>(head.visible(row));
    const Index place = text.positionOf(row);
    const bool hasOwn = !text.crossAttention() && place < size;
    if (head.visible(row) == size) {
      const auto add = [&](Index from, Index to) {
        weights.segment(from, to - from) += weightsHere.segment(from, to - from);
        shareSteps[from] += share, shareSteps[to] -= share;
        countSteps[from] += 1, countSteps[to] -= 1;
      };
      add(0, hasOwn ? place : size);
      if (hasOwn) add(place + 1, size);
      continue;
    }
    for (Index j = 0; j < size; ++j) visible[j] = head.sees(row, j) ? 1.0f : 0.0f;
    if (hasOwn) visible[place] = 0;
    const auto seen = visible.head(size);
    weights.head(size) += weightsHere * seen;
    baselines.head(size) += seen.cast<double>() * share;
    counts.head(size) += seen.cast<double>();
  }
  double shares = 0, rows = 0;
  for (Index j = 0; j < head.cols(); ++j) {
    baselines[j] += shares += shareSteps[j];
    counts[j] += rows += countSteps[j];
  }
  const auto fewest = static_cast<float>(std::max<Index>(1, (head.rows() + 3) / 4));
  DetectorScore best;
  for (Index j = 0; j < head.cols(); ++j) {
    const auto count = static_cast<float>(counts[j]);
    if (count < fewest || (best.rows > 0 && !(weights[j] / count > best.raw))) continue;
    best = {weights[j] / count, static_cast<float>(baselines[j]) / count, static_cast<Index>(count), j};
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
    // The first token has a separate detector.
    .mayLabel = [](const HeadProfile& profile) { return profile["stripe"].at > 0; },
    .titleOf = [](Index at) { return fmt::format("stripe at {}", at); },
    .compactName = [](Index at) { return fmt::format("j={}", at); },
    .counted =
        [](const ObservedHead& head, const DetectorScore& score, Index row, std::vector<Index>& keys) {
          if (head.text().crossAttention() || head.text().positionOf(row) != score.at)
            keys.push_back(score.at);
        }};

}  // namespace headscope::attention::detectors
