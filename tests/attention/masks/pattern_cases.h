#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {

/// The cell that a definition is evaluated for.
struct CellPlace {
  Index i = 0, j = 0;  ///< absolute positions of query and key
  Index row = 0, head = 0;
  Index queries = 0, keys = 0, cacheLength = 0;
};

/// A pattern in text form and its definition in the literature, cell by cell.
struct PatternCase {
  std::string text;
  std::function<bool(const CellPlace&)> visible;
  Index keysNeeded = 0, queriesNeeded = 0;  ///< the minimum sizes if lists name positions
};

/// Compares every cell of every head over square, wide and high masks with and without a cache.
void expectPatterns(const std::vector<PatternCase>& cases);

}  // namespace headscope::attention::test
