#pragma once

#include <array>

#include "app/compute/heads/detector_study.h"

namespace headscope::app {

/// A question about the common pictures of a layer's weights, some of which include the layers below.
struct ViewQuestion {
  std::shared_ptr<const LayerParts> layer;
  Index head = 0, other = 0;
  bool operator==(const ViewQuestion&) const = default;
};

struct HeadView {
  attention::Matrix values;  ///< [n, m]; −inf if masked
  float low = 0, high = 1;   ///< the colour range
  StagePicture small;        ///< pooled
};

struct ViewStudy {
  ViewQuestion question;
  std::string noRollout;                                 ///< why there is none: cross-attention, or an error
  std::array<HeadView, kHeadPictureNames.size()> views;  ///< indexed by HeadPicture
  const HeadView& operator[](HeadPicture picture) const { return views[static_cast<std::size_t>(picture)]; }
};

/// Pure. The result is incomplete if `stop` is requested.
attention::Result<std::shared_ptr<const ViewStudy>> studyViews(const ViewQuestion& question,
                                                               Resources& resources,
                                                               std::stop_token stop = {});

}  // namespace headscope::app
