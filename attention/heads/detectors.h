#pragma once

#include <span>
#include <string>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention {

/// Returns all detectors. Each is defined in detectors/ and listed in the table.
std::span<const Detector* const> allDetectors();

/// Scores every detector on one head; those that use its maps only if `maps` isn't null.
HeadProfile profileHead(const ObservedHead& head, const HeadMaps* maps = nullptr);

inline constexpr float kLabelThreshold = 0.3f;

struct HeadLabel {
  const Detector* detector = nullptr;  ///< null = mixed: no detector stands out
  float score = 0;                     ///< above baseline; the raw score for detectors that label the rest
  Index at = 0;                        ///< as DetectorScore::at
};

/// The least score above baseline with which a detector labels a head: `threshold`, over fewer than four rows
/// twice the threshold / √rows, and infinity over fewer rows than the detector needs.
float leastScore(const Detector& detector, Index rows, float threshold);
/// Whether the detector doesn't label a head with this profile only because its score, which reaches
/// `threshold`, is a mean over too few rows.
bool tooFewRows(const Detector& detector, const HeadProfile& profile, float threshold);

/// Labels a head with the strongest detector whose score above baseline reaches leastScore(), else with one
/// that labels the rest (uniform), else with none. As behaviours overlap, scores from few rows count less
/// (two thirds for one row), and a detector may leave a head to others.
HeadLabel labelHead(const HeadProfile& profile, float threshold = kLabelThreshold);

/// Returns "previous token", "2 back", "mixed", …
std::string describe(const HeadLabel& label);
/// The same in at most six letters: "prev", "i−2", "mixed".
std::string compactName(const HeadLabel& label);

}  // namespace headscope::attention
