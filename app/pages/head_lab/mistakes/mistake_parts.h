#pragma once

#include "app/pages/head_lab/head_lab_page.h"

namespace headscope::app::head_lab_page {

/// A red cross and a white tick, distinguished by shape as well as colour.
void paintCross(const View& view, Canvas list, ImVec2 middle, float size);
void paintTick(const View& view, Canvas list, ImVec2 middle, float size);

/// Draws both results with a common crosshair, and the selected row as bars below. Returns the area for a
/// note on the wrong one.
ImRect wrongMaps(Scene& scene, State& page, const ImRect& area);

/// Draws the numbers that reveal the mistake: their names, and below them the values with and without it,
/// `space` pixels apart. Returns the y of the bottom.
float wrongMeasures(const State& page, const ImRect& area, float space);

/// Draws the symptom, the revealing numbers, and the curve over dₖ with a handle that selects dₖ.
void wrongSide(Scene& scene, State& page, const ImRect& area);

}  // namespace headscope::app::head_lab_page
