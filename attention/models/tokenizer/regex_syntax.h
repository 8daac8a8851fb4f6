#pragma once

#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::attention {

/// Translates an expression from Oniguruma's syntax, which tokenizer.json uses, to PCRE2's (with UTF and
/// UCP). White space becomes Unicode's White_Space, which PCRE2 defines differently, and word characters
/// become Unicode's. Returns an Error naming an escape, group, flag or class that the two read differently.
Result<std::string> pcre2Expression(std::string_view expression);

}  // namespace headscope::attention
