#include "attention/heads/detectors.h"

#include <array>
#include <cmath>
#include <limits>

namespace headscope::attention {

namespace detectors {
extern const Detector previous, next, self, firstToken, sinks, sameToken, induction, separator, localBand,
    distance, segment, uniform, confidence, offset, stripe, copying, voEigenvalues;
}

namespace {

using namespace detectors;
constexpr std::array kDetectors{&previous,   &next,      &self,      &firstToken, &sinks,        &sameToken,
                                &induction,  &separator, &localBand, &distance,   &segment,      &uniform,
                                &confidence, &offset,    &stripe,    &copying,    &voEigenvalues};

/// Returns the mean weight on a detector's targets.
DetectorScore weightOnTargets(const Detector& detector, const ObservedHead& head) {
  RowMeans means;
  std::vector<Index> keys;
  for (Index row = 0; row < head.rows(); ++row) {
    keys.clear();
    detector.targets(head.text(), row, keys);
    Index seen = 0;
    for (const Index key : keys) {
      if (key >= head.visibleEnd(row)) break;
      if (key < 0 || !head.sees(row, key)) continue;
      means.raw += head.weights()(row, key);
      ++seen;
    }
    if (seen == 0) continue;
    means.baseline += static_cast<double>(seen) / static_cast<double>(head.visible(row));
    ++means.rows;
  }
  return means.score();
}

/// Discounts scores from few rows, which may be chance: one row counts two thirds, many rows almost fully.
float evidence(const DetectorScore& score) {
  const auto rows = static_cast<float>(score.rows);
  return score.above() * rows / (rows + 0.5f);
}

}  // namespace

std::span<const Detector* const> allDetectors() {
  return kDetectors;
}

DetectorScore scoreOf(const Detector& detector, const ObservedHead& head, const HeadMaps* maps) {
  if (detector.ofOneText && head.text().crossAttention()) return {};
  if (detector.ofMaps) return maps ? detector.ofMaps(*maps) : DetectorScore{};
  return detector.measure ? detector.measure(head) : weightOnTargets(detector, head);
}

std::vector<Index> countedKeys(const Detector& detector, const DetectorScore& score, const ObservedHead& head,
                               Index row) {
  std::vector<Index> keys;
  if (score.rows == 0) return keys;
  if (detector.counted)
    detector.counted(head, score, row, keys);
  else if (detector.targets)
    detector.targets(head.text(), row, keys);
  std::erase_if(keys,
                [&](Index key) { return key < 0 || key >= head.visibleEnd(row) || !head.sees(row, key); });
  return keys;
}

const DetectorScore& HeadProfile::operator[](std::string_view name) const {
  const auto found = std::ranges::find(kDetectors, name, &Detector::name);
  require(found != kDetectors.end(), "no detector is called " + std::string(name));
  return scores.at(static_cast<std::size_t>(found - kDetectors.begin()));
}

HeadProfile profileHead(const ObservedHead& head, const HeadMaps* maps) {
  HeadProfile profile;
  profile.scores.reserve(kDetectors.size());
  for (const Detector* detector : kDetectors) profile.scores.push_back(scoreOf(*detector, head, maps));
  return profile;
}

float leastScore(const Detector& detector, Index rows, float threshold) {
  // The weight that a random head (Xavier, 12 words) puts on a key varies by 0.2 from row to row. So the
  // default threshold of 0.3 is three standard errors of a mean over four rows; over fewer rows, the least
  // score grows as the standard error does.
  constexpr float kEnoughRows = 4;
  if (rows < detector.fewestRows) return std::numeric_limits<float>::infinity();
  return threshold * std::max(1.0f, std::sqrt(kEnoughRows / static_cast<float>(rows)));
}

bool tooFewRows(const Detector& detector, const HeadProfile& profile, float threshold) {
  const DetectorScore& score = profile[detector.name];
  return score.rows > 0 && score.above() >= threshold &&
         score.above() < leastScore(detector, score.rows, threshold) &&
         !(detector.mayLabel && !detector.mayLabel(profile));
}

HeadLabel labelHead(const HeadProfile& profile, float threshold) {
  HeadLabel label, rest;
  float strongest = 0;
  for (std::size_t d = 0; d < kDetectors.size(); ++d) {
    const Detector& detector = *kDetectors[d];
    const DetectorScore& score = profile.scores[d];
    if (score.rows == 0) continue;
    if (detector.fallbackLabelThreshold && score.raw >= *detector.fallbackLabelThreshold)
      rest = {&detector, score.raw, score.at};
    if (!(score.above() >= leastScore(detector, score.rows, threshold))) continue;
    if (detector.mayLabel && !detector.mayLabel(profile)) continue;
    if (label.detector && evidence(score) <= strongest) continue;
    label = {&detector, score.above(), score.at};
    strongest = evidence(score);
  }
  return label.detector ? label : rest;
}

std::string describe(const HeadLabel& label) {
  if (!label.detector) return "mixed";
  return label.detector->titleOf ? label.detector->titleOf(label.at) : std::string(label.detector->title);
}

std::string compactName(const HeadLabel& label) {
  if (!label.detector) return "mixed";
  return label.detector->compactName ? label.detector->compactName(label.at)
                                     : std::string(label.detector->shortName);
}

}  // namespace headscope::attention
