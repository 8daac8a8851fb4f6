#pragma once

#include <string>
#include <vector>

#include "attention/masks/code.h"

namespace headscope::attention::test {

/// A mask over a geometry whose code is run and compared with the mask itself.
struct CodeCase {
  std::string name, text;
  MaskGeometry geometry;
  MaskSources sources;
};

/// Every pattern by its example, with and without a cache and beyond the keys, and masks composed of them.
std::vector<CodeCase> codeCases();

/// Text structure of `keys` tokens, all its parts in use.
MaskGeometry codeGeometry(Index queries, Index keys, Index cacheLength = 0, Index heads = 1);

/// Cells where row and key tell which are visible, masked and left alone.
std::shared_ptr<const CellTable> codeCells(Index heads, Index queries, Index keys, bool all);

}  // namespace headscope::attention::test
