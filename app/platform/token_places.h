#pragma once

#include <vector>

#include "app/platform/imgui_compat.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// The tokens that the cells of a picture, or words in a row, stand for, so that pen strokes on them move
/// with the tokens. The tokens must live as long as the frame.
struct TokenPlaces {
  const std::vector<attention::Token>*rows = nullptr, *columns = nullptr;  ///< null = not tokens
  ImRect first = {};                                                       ///< the first cell of the picture
};

}  // namespace headscope::app
