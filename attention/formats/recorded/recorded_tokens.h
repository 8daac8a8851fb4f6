#pragma once

#include <string>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Parses the tokens of recorded attention from metadata or a file: a JSON list of texts or ids, an
/// object with such a list under "tokens" or "input_ids", or text with one token per line if that yields
/// `expected`, else one per word. Drops the mark of a space before a word ("Ġ", "▁"). Returns an Error,
/// prefixed by `name`, unless there are `expected` tokens; messages call them `what`.
Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name);

}  // namespace headscope::attention
