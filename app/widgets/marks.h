#pragma once

#include "app/platform/marks.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// An outline in `color` with the opposite tone round it, so that it shows on every colour of a picture; it
/// lies just outside of `box`. Figures have none. `thick` in pixels; 0 = as crosshairs have it.
void paintMark(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color,
               float thick = 0);

/// A small filled square in `color` in the same two tones.
void paintSpot(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color);

}  // namespace headscope::app
