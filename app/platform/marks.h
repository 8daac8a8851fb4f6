#pragma once

#include "app/platform/canvas.h"

namespace headscope::app {

// Marks are what says something without words: a crosshair, a slider's knob, a frame round what is chosen.
// For tests each is noted where it is drawn, and left out where they ask what it stands on.

/// The name of what lets marks under it fade: more can be scrolled to there.
inline constexpr const char* kFade = "fade";

/// Notes the mark that lies between two corners; whether it has to be drawn.
bool drawsMark(Canvas list, const char* name, ImVec2 from, ImVec2 to);

}  // namespace headscope::app
