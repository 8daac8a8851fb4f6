#pragma once

#include <array>

#include "app/compute/detector_study.h"

namespace headscope::app {

/// What people make of a layer's weights to look at them.
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
  std::array<HeadView, kHeadPictureNames.size()> views;  ///< in the order of HeadPicture
  const HeadView& operator[](HeadPicture picture) const { return views[static_cast<std::size_t>(picture)]; }
};

/// Pure. Incomplete once `stop` is requested.
ViewStudy studyViews(const ViewQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
