#pragma once

#include <vector>

#include "app/platform/imgui_compat.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// How the cells of a picture, or words in a row, go by tokens: what the pen draws on them moves with them.
/// The tokens live as long as the frame.
struct TokenPlaces {
  const std::vector<attention::Token>*rows = nullptr, *columns = nullptr;  ///< null: not tokens
  ImRect first = {};                                                       ///< the picture's first cell
};

}  // namespace headscope::app
