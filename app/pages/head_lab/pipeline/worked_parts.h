#pragma once

#include <string>

#include "app/pages/head_lab/head_lab_state.h"
#include "app/pages/head_lab/pipeline/columns.h"

namespace headscope::app::head_lab_page {

/// Draws the headline of a sum, "formula = total", with an explanation below.
void paintSumTitle(const View& view, const ImRect& area, const std::string& formula, double total,
                   const std::string& how);
/// The part of the area below the headline.
ImRect belowSumTitle(const View& view, const ImRect& area);

/// The sum's table: columns, or lines while presenting. Return how many fit, and the hovered one (−1 = none).
std::size_t tableRoom(const State& page, const ImRect& table);
int paintTable(const State& page, const ImRect& table, const Columns& columns);

/// The selected query's row through an elementwise step: numbers before and after, the latter also as bars.
void rowTable(const Scene& scene, State& page, const ImRect& area);

}  // namespace headscope::app::head_lab_page
