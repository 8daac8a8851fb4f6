#pragma once

#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::attention {

/// An expression in Oniguruma's syntax, as tokenizer.json has it, in PCRE2's (with UTF and UCP). White space
/// becomes Unicode's White_Space, of which PCRE2 thinks differently, and word characters those of Unicode.
/// Errors: escapes, groups, flags and classes that the two read differently; the message says which.
Result<std::string> pcre2Expression(std::string_view expression);

}  // namespace headscope::attention
