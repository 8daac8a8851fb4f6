#pragma once

#include "app/pages/head_lab/head_lab_state.h"

namespace headscope::app::head_lab_page {

/// A red cross and a white tick: shape says what colour says.
void paintCross(const View& view, Canvas list, ImVec2 middle, float size);
void paintTick(const View& view, Canvas list, ImVec2 middle, float size);

/// Both results under one crosshair, with the chosen row as bars below. Returns where a word on the wrong one
/// has room.
ImRect wrongMaps(Scene& scene, State& page, const ImRect& area);

/// The numbers to know it by: what each is, and below it with the mistake and without. `space` pixels between
/// them; returns where they end.
float wrongMeasures(const State& page, const ImRect& area, float space);

/// The symptom, the numbers to know it by, and the curve over dₖ, whose handle chooses it.
void wrongSide(Scene& scene, State& page, const ImRect& area);

}  // namespace headscope::app::head_lab_page
