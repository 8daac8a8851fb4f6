#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

/// Escapes `text` for a message, so that no file can control the terminal through it. Control characters (C0
/// and C1), characters that change text direction, line separators, and bytes that aren't UTF-8 become \xHH.
std::string escapedText(std::string_view text);

/// Returns equivalent JSON that can't control the terminal: the same characters become \uHHHH, except for
/// line breaks; bytes that aren't UTF-8 become \ufffd.
std::string escapedJson(std::string_view json);

/// Like escapedText(), but in quotes, with quotes and backslashes escaped, and truncated if long.
std::string quotedText(std::string_view text);

}  // namespace headscope::attention
