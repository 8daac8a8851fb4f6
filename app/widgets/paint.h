#pragma once

#include "app/widgets/text/draw_text.h"
#include "app/widgets/view.h"

namespace headscope::app {

// Text that depends on the pointer or the theme. Positions are framebuffer pixels.

/// Paints text fitted to `width`. If it was cut, hovering it shows the whole text as a tooltip.
void paintFitted(const View& view, Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                 std::string_view text, Align align = Align::left);

/// Paints the picture of a scene, as a hall sees it; words until it is painted, also for null. Returns
/// whether it is.
bool paintScene(View& view, Canvas list, const std::shared_ptr<const Scene>& scene, const ImRect& area);

/// Shows a sentence in a small raised box next to the pointer.
void tooltip(const View& view, std::string_view text);
/// The same below `clear`, without covering it, or above if there is too little space below.
void tooltipBeside(const View& view, std::string_view text, const ImRect& clear);

/// Paints a badge with a tinted background. Returns its width.
float paintBadge(const View& view, Canvas list, ImVec2 leftMiddle, std::uint32_t color,
                 std::string_view text);

/// Paints an outline just outside `box`, in `color` with a rim in the opposite tone, so that it shows on
/// every colour. Figures have no marks. `thick` is in pixels; 0 = as for crosshairs.
void paintMark(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color,
               float thick = 0);

/// Paints the outline dashed, as everything hovered is.
void paintGhost(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color);

/// Paints a small filled square in `color` with the same rim.
void paintSpot(const View& view, Canvas list, const char* name, const ImRect& box, std::uint32_t color);

}  // namespace headscope::app
