#include <algorithm>
#include <initializer_list>

#include "attention/heads/detectors.h"
#include "attention/heads/planted.h"

namespace headscope::attention {
namespace {

/// From this share of the possible entropy on, a head without a pattern is called uniform.
constexpr float kUniformRatio = 0.95f;
/// An offset that holds this much of the local band's weight is what the band consists of.
constexpr float kMostOfBand = 2.0f / 3;

bool isOneOffset(const HeadProfile& profile) {
  float strongest = 0;
  for (const Detector d : {Detector::self, Detector::previous, Detector::next, Detector::offset}) {
    strongest = std::max(strongest, profile[d].raw);
  }
  return strongest >= kMostOfBand * profile[Detector::local].raw;
}

bool mayName(const HeadProfile& profile, Detector detector) {
  switch (detector) {
    case Detector::uniform:
      return false;
    case Detector::local:
      return !isOneOffset(profile);
    case Detector::offset:
      return profile.bestOffset < -1 || profile.bestOffset > 1;
    default:
      return true;
  }
}

/// A score on one row may be chance: it counts for two thirds, on many rows for nearly all.
float evidence(const DetectorScore& score) {
  const auto rows = static_cast<float>(score.rows);
  return score.above() * rows / (rows + 0.5f);
}

}  // namespace

std::string_view name(Detector detector) {
  switch (detector) {
    case Detector::previous:
      return "previous token";
    case Detector::next:
      return "next token";
    case Detector::self:
      return "self";
    case Detector::first:
      return "first token";
    case Detector::sameToken:
      return "same token";
    case Detector::separator:
      return "separator";
    case Detector::local:
      return "local band";
    case Detector::uniform:
      return "uniform";
    case Detector::offset:
      return "best offset";
  }
  return "";
}

HeadLabel labelHead(const HeadProfile& profile, float threshold) {
  HeadLabel label;
  float strongest = 0;
  for (int d = 0; d < kDetectorCount; ++d) {
    const auto detector = static_cast<Detector>(d);
    const DetectorScore& score = profile[detector];
    if (score.rows == 0 || !(score.above() >= threshold) || !mayName(profile, detector)) continue;
    if (label.mixed || evidence(score) > strongest) {
      label = {false, detector, score.above(), detector == Detector::offset ? profile.bestOffset : 0};
      strongest = evidence(score);
    }
  }
  const DetectorScore& uniform = profile[Detector::uniform];
  if (label.mixed && uniform.rows > 0 && uniform.raw >= kUniformRatio) {
    label = {false, Detector::uniform, uniform.raw, 0};
  }
  return label;
}

std::string describe(const HeadLabel& label) {
  if (label.mixed) return "mixed";
  if (label.detector == Detector::offset) return describe(PlantedHead{Pattern::offset, label.offset});
  return std::string(name(label.detector));
}

}  // namespace headscope::attention
