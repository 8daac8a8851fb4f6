#pragma once

#include <vector>

#include "app/widgets/view.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Returns the width in pixels of the longest token label next to a heatmap, at most `most`.
float longestLabel(const View& view, const std::vector<attention::Token>& tokens, float most);

/// Space for token names around a head's picture, in pixels: left of it, and slanted below.
struct NameRoom {
  float left = 0, below = 0;
};
/// Returns the space that the longest names need, within limits.
NameRoom nameRoom(const View& view, const std::vector<attention::Token>& queries,
                  const std::vector<attention::Token>& keys);

}  // namespace headscope::app
