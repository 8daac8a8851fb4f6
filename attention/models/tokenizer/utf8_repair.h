#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

/// Returns `bytes` as UTF-8: invalid bytes become U+FFFD, one per maximal prefix of a character (Unicode
/// Standard, table 3-8), as in the reference and in browsers.
std::string repairedUtf8(std::string_view bytes);

/// Returns how many bytes at the end of `bytes` begin a character that more bytes would complete; 0 if none
/// do.
std::size_t unfinishedLength(std::string_view bytes);

/// Returns `bytes` in readable form: a space is "␣", an invisible character its number in angle brackets
/// ("<0A>", "<200B>"), and so is a byte that belongs to no character ("<E2>").
std::string readableBytes(std::string_view bytes);

}  // namespace headscope::attention
