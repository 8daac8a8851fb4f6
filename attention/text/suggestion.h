#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::attention {

/// "; did you mean window?" for the nearest of `names` to a misspelt word; nothing where none is near: more
/// than a third of its letters would have to be put in, taken out, changed or swapped with a neighbour.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace headscope::attention
