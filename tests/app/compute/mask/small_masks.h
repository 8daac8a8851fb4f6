#pragma once

#include <string>
#include <vector>

#include "attention/core/mask.h"

namespace headscope::test {

/// A text of `count` words.
inline std::string words(attention::Index count) {
  std::string text;
  for (attention::Index i = 0; i < count; ++i) text += "w ";
  return text;
}

/// The visibility of each cell of a head.
inline std::vector<std::vector<bool>> cellsOf(const attention::MaskFormula& mask, attention::Index variant) {
  std::vector<std::vector<bool>> cells;
  for (attention::Index row = 0; row < mask.queries(); ++row) {
    cells.emplace_back();
    for (attention::Index key = 0; key < mask.keys(); ++key)
      cells.back().push_back(mask.visible(variant, row, key));
  }
  return cells;
}

}  // namespace headscope::test
