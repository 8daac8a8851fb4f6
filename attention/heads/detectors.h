#pragma once

#include <span>
#include <string>

#include "attention/heads/detectors/detector.h"

namespace headscope::attention {

/// Every detector there is; each is a file of detectors/ and a row of the table.
std::span<const Detector* const> allDetectors();

/// Scores every detector on one head; those that judge its maps only where there are some.
HeadProfile profileHead(const ObservedHead& head, const HeadMaps* maps = nullptr);

inline constexpr float kLabelThreshold = 0.3f;

struct HeadLabel {
  const Detector* detector = nullptr;  ///< null = mixed: no detector stands out
  float score = 0;                     ///< above baseline; for detectors that label the rest the raw score
  Index at = 0;                        ///< as DetectorScore::at
};

/// The strongest detector whose score above baseline reaches `threshold`; else one that labels the rest
/// (uniform); else none. Behaviours overlap, so few rows count for less (one row, two thirds), and detectors
/// may leave a head to others.
HeadLabel labelHead(const HeadProfile& profile, float threshold = kLabelThreshold);

/// "previous token", "2 back", "mixed", …
std::string describe(const HeadLabel& label);
/// The same in at most six letters: "prev", "i−2", "mixed".
std::string tightName(const HeadLabel& label);

}  // namespace headscope::attention
