#pragma once

#include "app/compute/layer/pictures.h"

namespace headscope::app {

/// The values at the ends of a colormap.
struct ValueRange {
  float low = 0, high = 1;
  bool logarithmic = false;
};

/// Those of one head, as Look says.
ValueRange rangeFor(const Look& look, const HeadPictures& pictures, Index head);
/// Those of many heads' weights on one scale: 0 to 1, or 10⁻⁴ to 1 where Look is logarithmic.
ValueRange weightRange(const Look& look);
render::Colormap colormapFor(const Look& look);

}  // namespace headscope::app
