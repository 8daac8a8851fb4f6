#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace headscope::app {

// Dear ImGui edits unwrapped lines. A long sentence is shown wrapped by replacing the space before each
// overflowing word by a line break in what is edited; both have one byte, so offsets agree, and an edit is
// carried back by what it left alone in front of and behind it.

/// `text` with spaces turned into line breaks so that lines stay within `width`; `measure` gives a piece's
/// width.
std::string wrapped(std::string_view text, float width,
                    const std::function<float(std::string_view)>& measure);

/// The text after `before`, shown for `text`, was edited into `after`. Breaks that wrapping put in are spaces
/// again; those that were typed or pasted stay.
std::string unwrapped(std::string_view text, std::string_view before, std::string_view after);

}  // namespace headscope::app
