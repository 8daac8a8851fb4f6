#pragma once

#include <string>

#include "app/pages/head_lab/head_lab_state.h"
#include "app/pages/head_lab/pipeline/columns.h"

namespace headscope::app::head_lab_page {

/// A worked-out number's headline: "formula = total", and below it how it comes about.
void paintSumTitle(const View& view, const ImRect& area, const std::string& formula, double total,
                   const std::string& how);
/// What it leaves of the area.
ImRect belowSumTitle(const View& view, const ImRect& area);

/// Its table: columns, or lines for who presents. How many there is room for, and the one that is pointed at.
std::size_t tableRoom(const State& page, const ImRect& table);
int paintTable(const State& page, const ImRect& table, const Columns& columns);

/// The chosen query's row through an elementwise step: numbers before and after, the latter as bars.
void rowTable(const Scene& scene, State& page, const ImRect& area);

}  // namespace headscope::app::head_lab_page
