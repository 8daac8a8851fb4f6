#pragma once

#include "app/platform/marks.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// Paints an outline just outside `box`, in `color` with a rim in the opposite tone, so that it shows on
/// every colour. Figures have no marks. `thick` is in pixels; 0 = as for crosshairs.
void paintMark(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color,
               float thick = 0);

/// Paints a small filled square in `color` with the same rim.
void paintSpot(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color);

}  // namespace headscope::app
