#pragma once

#include <vector>

#include "app/widgets/view.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Pixels that the longest of the tokens' labels beside a heatmap takes, at most `most`.
float longestLabel(const View& view, const std::vector<attention::Token>& tokens, float most);

/// Pixels for tokens' names round the picture of a head: beside it, and slanted below.
struct NameRoom {
  float left = 0, below = 0;
};
/// As much as the longest names take, within limits.
NameRoom nameRoom(const View& view, const std::vector<attention::Token>& queries,
                  const std::vector<attention::Token>& keys);

}  // namespace headscope::app
