#pragma once

#include <string_view>

#include "app/widgets/paint.h"

namespace headscope::app {

/// paintText for a formula of one line: what follows "_" stands small and low, what follows "^" small and
/// high. That is one character, or several in braces: "W_Q", "e^{score − max}". What is wider than `width` is
/// cut as fitted() does. Returns its width.
float paintScripted(const View& view, Canvas list, ImFont* font, ImVec2 at, std::uint32_t color,
                    std::string_view text, Align align = Align::left, float width = FLT_MAX);
float scriptedWidth(const View& view, ImFont* font, std::string_view text);

}  // namespace headscope::app
