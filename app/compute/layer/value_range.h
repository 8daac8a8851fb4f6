#pragma once

#include "app/compute/layer/pictures.h"

namespace headscope::app {

/// The values at the ends of a colormap.
struct ValueRange {
  float low = 0, high = 1;
  bool logarithmic = false;
};

/// Returns the range for one head, as set in Look.
ValueRange rangeFor(const Look& look, const HeadPictures& pictures, Index head);
/// Returns the range for the weights of many heads on one scale: 0 to 1, or 10⁻⁴ to 1 if Look is logarithmic.
ValueRange weightRange(const Look& look);
render::Colormap colormapFor(const Look& look);
/// Returns the look with colours around 0 if the pictures have negative weights.
Look lookFor(Look look, const HeadPictures& pictures);

}  // namespace headscope::app
