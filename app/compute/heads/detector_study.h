#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/layer/layer_parts.h"

namespace headscope::app {

/// A question about what all heads of a layer do on one line.
struct DetectorQuestion {
  std::shared_ptr<const LayerParts> layer;
  HeadPicture reads = HeadPicture::weights;  ///< one of the first three pictures
  Similarity likeness = Similarity::cosine;
  bool operator==(const DetectorQuestion&) const = default;
};

/// The most rows of a head that are compared with those of the others.
inline constexpr Index kComparedRows = 128;

struct DetectorStudy {
  DetectorQuestion question;
  std::vector<attention::HeadProfile> profiles;  ///< [heads], with the detectors' scores for a head's maps
  attention::Matrix likeness;                    ///< [heads, heads]
  std::vector<Index> order;                      ///< of the heads, similar ones next to each other
  Index comparedRows = 0;
};

/// Pure. The result is incomplete if `stop` is requested.
DetectorStudy studyDetectors(const DetectorQuestion& question, std::stop_token stop = {});

/// A question about the cells that a detector counts in one head.
struct TargetQuestion {
  std::shared_ptr<const DetectorStudy> study;
  Index head = 0;
  const attention::Detector* detector = nullptr;  ///< null = none
  bool operator==(const TargetQuestion&) const = default;
};

struct TargetStudy {
  TargetQuestion question;
  attention::Matrix values;                 ///< [n, m] the values the detectors use; −inf if masked
  std::vector<std::vector<Index>> counted;  ///< [n] the counted keys of each row, ascending
};

/// Pure.
TargetStudy studyTargets(const TargetQuestion& question, std::stop_token stop = {});

/// Returns the head's weights, transformed as `reads` says for detectors and pictures, [n, m].
attention::Matrix readWeights(const LayerParts& layer, Index head, HeadPicture reads);
/// Sets to −inf the values at keys that the head's mask hides.
void hideMasked(const LayerParts& layer, Index head, attention::Matrix& values);

}  // namespace headscope::app
