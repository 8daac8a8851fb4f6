#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::attention {

/// Returns "; did you mean window?" for the closest of `names` to a misspelt word. Returns "" if none is
/// close: if more than a third of the letters (at least one) would have to be inserted, deleted, changed or
/// swapped with a neighbour. Also "" for words longer than 32 bytes.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace headscope::attention
