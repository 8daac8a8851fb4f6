#pragma once

#include <string>
#include <string_view>

namespace headscope::app {

/// A text with its numbers, written as "1,234.5", as the person reads numbers (see setNumberStyle). Versions, names
/// and what stands between backticks stay.
std::string shownProse(std::string_view text);

}  // namespace headscope::app
