#pragma once

#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// The colours of a map from its low end at `from` to its high one: to the right, or upwards where `to` lies
/// higher.
void paintRamp(Canvas list, render::Colormap colormap, ImVec2 from, ImVec2 to);

/// What stands under a colour bar.
struct BarLabels {
  std::string low, middle, high;
};

/// A colormap from end to end with its values below it, the right end at `right`.
void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width);

}  // namespace headscope::app
