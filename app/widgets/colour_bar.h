#pragma once

#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// Paints the colormap from its low end at `from` to its high end at `to`: rightwards, or upwards if `to` is
/// above `from`.
void paintRamp(Canvas list, render::Colormap colormap, ImVec2 from, ImVec2 to);

/// The labels below a colour bar.
struct BarLabels {
  std::string low, middle, high;
};

/// Paints the whole colormap with labels below it, its right end at `right`.
void paintColourBar(const View& view, render::Colormap colormap, const BarLabels& labels, ImVec2 right,
                    float width);

}  // namespace headscope::app
