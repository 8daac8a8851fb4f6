#pragma once

#include "app/compute/plots/plot_data.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Draws the plot into `area`; tests know its cells as `name`. Returns the x under the pointer. `lit` is an x
/// to highlight because another plot is hovered.
std::optional<double> drawPlot(const View& view, const std::string& name, const ImRect& area,
                               const Plot& plot, std::optional<double> lit = std::nullopt);

/// Paints a dashed line through points in pixels.
void paintDashed(Canvas list, const std::vector<ImVec2>& points, Dash dash, std::uint32_t color,
                 float thickness, float unit);

}  // namespace headscope::app
