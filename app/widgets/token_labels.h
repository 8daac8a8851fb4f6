#pragma once

#include <vector>

#include "app/widgets/view.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Pixels that the longest of the tokens' labels beside a heatmap takes, at most `most`.
float longestLabel(const View& view, const std::vector<attention::Token>& tokens, float most);

}  // namespace headscope::app
