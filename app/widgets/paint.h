#pragma once

#include <string>
#include <string_view>

#include "app/widgets/text/draw_text.h"
#include "app/widgets/view.h"

namespace headscope::app {

// Text with what depends on the pointer and the theme. Positions are framebuffer pixels.

/// paintText of the fitted text; when it was cut and `hoverRect` is hovered, the whole appears as a tooltip.
void paintFitted(const View& view, Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                 std::string_view text, Align align = Align::left);

/// A sentence in a small raised box beside the pointer.
void tooltip(const View& view, std::string_view text);
/// Below `clear`, which it does not cover, or above it where there is no room.
void tooltipBeside(const View& view, std::string_view text, const ImRect& clear);

/// A badge with a tinted background; returns its width.
float paintBadge(const View& view, Canvas list, ImVec2 leftMiddle, std::uint32_t color,
                 std::string_view text);

}  // namespace headscope::app
