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

/// Labels a head with the strongest detector whose score above baseline reaches `threshold`, else with one
/// that labels the rest (uniform), else with none. As behaviours overlap, scores from few rows count less
/// (two thirds for one row), and a detector may leave a head to others.
HeadLabel labelHead(const HeadProfile& profile, float threshold = kLabelThreshold);

/// Returns "previous token", "2 back", "mixed", …
std::string describe(const HeadLabel& label);
/// The same in at most six letters: "prev", "i−2", "mixed".
std::string compactName(const HeadLabel& label);

}  // namespace headscope::attention
