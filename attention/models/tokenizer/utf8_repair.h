#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

/// `bytes` as UTF-8: what is none becomes U+FFFD, one for each maximal beginning of a character (Unicode
/// Standard, table 3-8), which is what the reference and browsers do.
std::string repairedUtf8(std::string_view bytes);

/// How many bytes at the end of `bytes` begin a character that more bytes would finish; 0 where there is
/// none.
std::size_t unfinishedLength(std::string_view bytes);

/// `bytes` as people read them: a space is "␣", what can't be seen its number in angle brackets ("<0A>",
/// "<200B>"), and a byte that belongs to no character here likewise ("<E2>").
std::string readableBytes(std::string_view bytes);

}  // namespace headscope::attention
