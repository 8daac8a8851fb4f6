#pragma once

#include <string>
#include <string_view>

namespace headscope::app {

/// Rewrites the numbers in a text, given as "1,234.5", in the user's style (see setNumberStyle()). Versions,
/// names and text between backticks stay unchanged.
std::string shownProse(std::string_view text);

}  // namespace headscope::app
