#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

/// `text` for a message: control characters, of the second block too, those that turn the direction of text,
/// separators of lines, and bytes that are no UTF-8 are shown as \xHH, so that no file can steer the terminal
/// through a message.
std::string escapedText(std::string_view text);

/// JSON that says the same and steers no terminal either: with the same characters as \uHHHH, but for the
/// ends of its lines.
std::string escapedJson(std::string_view json);

/// The same in quotes, with quotes and backslashes escaped, and cut where it is long.
std::string quotedText(std::string_view text);

}  // namespace headscope::attention
