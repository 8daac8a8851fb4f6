#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compute/plots/plot_data.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Draws the plot into `area`; `name` is what tests call its cells. Returns the x that is pointed at.
/// `lit`: an x that is lit because another plot is pointed at.
std::optional<double> drawPlot(const View& view, const std::string& name, const ImRect& area,
                               const Plot& plot, std::optional<double> lit = std::nullopt);

/// A line along points in pixels, in dashes.
void paintDashed(Canvas list, const std::vector<ImVec2>& points, Dash dash, std::uint32_t color,
                 float thickness, float unit);

}  // namespace headscope::app
