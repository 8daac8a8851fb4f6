#pragma once

#include <string>
#include <string_view>

#include "app/widgets/text/draw_text.h"
#include "app/widgets/view.h"

namespace headscope::app {

// Text that depends on the pointer or the theme. Positions are framebuffer pixels.

/// Paints text fitted to `width`. If it was cut, hovering it shows the whole text as a tooltip.
void paintFitted(const View& view, Canvas list, ImFont* font, ImVec2 at, float width, std::uint32_t color,
                 std::string_view text, Align align = Align::left);

/// Shows a sentence in a small raised box next to the pointer.
void tooltip(const View& view, std::string_view text);
/// The same below `clear`, without covering it, or above if there is too little space below.
void tooltipBeside(const View& view, std::string_view text, const ImRect& clear);

/// Paints a badge with a tinted background. Returns its width.
float paintBadge(const View& view, Canvas list, ImVec2 leftMiddle, std::uint32_t color,
                 std::string_view text);

}  // namespace headscope::app
