#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/layer/layer_parts.h"

namespace headscope::app {

/// What all heads of a layer are seen to do on one line.
struct DetectorQuestion {
  std::shared_ptr<const LayerParts> layer;
  HeadPicture reads = HeadPicture::weights;  ///< one of the first three
  Likeness likeness = Likeness::cosine;
  bool operator==(const DetectorQuestion&) const = default;
};

/// Rows of a head that are compared with those of the others.
inline constexpr Index kComparedRows = 128;

struct DetectorStudy {
  DetectorQuestion question;
  std::vector<attention::HeadProfile> profiles;  ///< [heads], with the detectors that judge a head's maps
  attention::Matrix likeness;                    ///< [heads, heads]
  std::vector<Index> order;                      ///< of the heads, like ones together
  Index comparedRows = 0;
};

/// Pure. Incomplete once `stop` is requested.
DetectorStudy studyDetectors(const DetectorQuestion& question, std::stop_token stop = {});

/// The cells of one head by which a detector judges it.
struct TargetQuestion {
  std::shared_ptr<const DetectorStudy> study;
  Index head = 0;
  const attention::Detector* detector = nullptr;  ///< null: none
  bool operator==(const TargetQuestion&) const = default;
};

struct TargetStudy {
  TargetQuestion question;
  attention::Matrix values;                 ///< [n, m] what the detectors look at; −inf where it is masked
  std::vector<std::vector<Index>> counted;  ///< [n] the keys of each row that count, ascending
};

/// Pure.
TargetStudy studyTargets(const TargetQuestion& question, std::stop_token stop = {});

/// What a head's weights become before detectors and pictures look at them, [n, m].
attention::Matrix readWeights(const LayerParts& layer, Index head, HeadPicture reads);
/// −inf where the head's mask hides the key.
void hideMasked(const LayerParts& layer, Index head, attention::Matrix& values);

}  // namespace headscope::app
