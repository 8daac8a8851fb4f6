#pragma once

#include <string>

#include "app/view.h"

namespace headscope::app {

/// What stands under a colour bar.
struct BarLabels {
  std::string low, middle, high;
};

/// A colormap from end to end with its values below it, the right end at `right`.
void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width);

/// Lists all colormaps; returns whether another was chosen.
bool colormapChoice(View& view, render::Colormap& map);

}  // namespace headscope::app
