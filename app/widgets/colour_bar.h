#pragma once

#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// The colours of a map from one corner to the other, from its low end to its high one.
void paintRamp(Canvas list, render::Colormap colormap, ImVec2 from, ImVec2 to);

/// What stands under a colour bar.
struct BarLabels {
  std::string low, middle, high;
};

/// A colormap from end to end with its values below it, the right end at `right`.
void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width);

}  // namespace headscope::app
