#pragma once

#include "app/kit/board.h"
#include "app/pages/head_lab/head_lab_page.h"

namespace headscope::app::head_lab_page {

/// A red cross and a white tick, distinguished by shape as well as colour.
void paintCross(const View& view, Canvas list, ImVec2 middle, float size);
void paintTick(const View& view, Canvas list, ImVec2 middle, float size);

const attention::MistakeInfo& infoOf(attention::Mistake mistake);

/// Draws all mistakes by group; a click selects one.
void mistakeList(Scene& scene, const State& page, const ImRect& area);

// Parts about the mistake shown. They require `page.study`.

/// Draws both results with a common crosshair, and if there is room, the selected row as bars below.
void wrongMaps(Scene& scene, State& page, const ImRect& area);
/// Adds the symptom, the numbers that reveal the mistake, and the curve over dₖ with a handle that selects
/// dₖ.
void wrongSide(Scene& scene, State& page, Board& board);
/// Draws the line that fixes the mistake, with the added part highlighted.
void fixLine(const State& page, const ImRect& area);

}  // namespace headscope::app::head_lab_page
