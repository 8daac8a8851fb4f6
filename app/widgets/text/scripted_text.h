#pragma once

#include <string_view>

#include "app/widgets/paint.h"

namespace headscope::app {

/// Like paintText, for one-line formulas: "_" makes the next character a subscript, "^" a superscript; braces
/// group several: "W_Q", "e^{score − max}". Text wider than `width` is cut like by fitted(). Returns its
/// width.
float paintScripted(const View& view, Canvas list, ImFont* font, ImVec2 at, std::uint32_t color,
                    std::string_view text, Align align = Align::left, float width = FLT_MAX);
float scriptedWidth(const View& view, ImFont* font, std::string_view text);

}  // namespace headscope::app
