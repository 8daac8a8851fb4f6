#pragma once

#include "app/compute/pictures.h"

namespace headscope::app {

/// The values at the ends of a colormap.
struct ValueRange {
  float low = 0, high = 1;
  bool logarithmic = false;
};

/// Those of one head, as Look says.
ValueRange rangeFor(const Look& look, const HeadPictures& pictures, Index head);
render::Colormap colormapFor(const Look& look);

}  // namespace headscope::app
