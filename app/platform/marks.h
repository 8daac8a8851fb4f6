#pragma once

#include "app/platform/canvas.h"

namespace headscope::app {

// A mark conveys something without words: a crosshair, a slider's knob, a frame around the selection. For
// tests, each is recorded when drawn, and can be left out to reveal its background.

/// The name of the mark that fades content at an edge where more can be scrolled into view.
inline constexpr const char* kFade = "fade";

/// Records the mark between two corners. Returns whether to draw it.
bool drawsMark(Canvas list, const char* name, ImVec2 from, ImVec2 to);

}  // namespace headscope::app
