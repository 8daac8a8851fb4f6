#pragma once

#include <array>

#include "app/compute/heads/detector_study.h"

namespace headscope::app {

/// What people make of a layer's weights, and of those of the layers below, to look at them.
struct ViewQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0, other = 0;
  bool operator==(const ViewQuestion&) const = default;
};

struct HeadView {
  attention::Matrix values;  ///< [n, m]; −inf where it is masked
  float low = 0, high = 1;   ///< of its colours
  StagePicture small;        ///< pooled
};

struct ViewStudy {
  ViewQuestion question;
  std::string noRollout;                                 ///< why there is none: cross-attention
  std::array<HeadView, kHeadPictureNames.size()> views;  ///< in the order of HeadPicture
  const HeadView& operator[](HeadPicture picture) const { return views[static_cast<std::size_t>(picture)]; }
};

/// Pure. Errors: what the layers below refuse, which rollout goes through. Incomplete once `stop` is
/// requested.
attention::Result<std::shared_ptr<const ViewStudy>> studyViews(const ViewQuestion& question,
                                                               Resources& resources,
                                                               std::stop_token stop = {});

}  // namespace headscope::app
