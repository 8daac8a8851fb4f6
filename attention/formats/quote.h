#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

/// `text` for a message: control characters, of the second block too, and bytes that are no UTF-8 are shown
/// as \xHH, so that no file can steer the terminal through a message.
std::string escapedText(std::string_view text);

/// The same in quotes, with quotes and backslashes escaped, and cut where it is long.
std::string quotedText(std::string_view text);

}  // namespace headscope::attention
