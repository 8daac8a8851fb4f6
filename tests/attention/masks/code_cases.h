#pragma once

#include <string>
#include <vector>

#include "attention/masks/code.h"

namespace headscope::attention::test {

/// A mask on a geometry whose generated code is run and compared with the mask itself.
struct CodeCase {
  std::string name, text;
  MaskGeometry geometry;
  MaskSources sources;
};

/// Every pattern's example, with and without a cache and beyond the keys, and masks composed of several
/// patterns.
std::vector<CodeCase> codeCases();

/// A geometry with the text structure of `keys` tokens, using all of its parts.
MaskGeometry codeGeometry(Index queries, Index keys, Index cacheLength = 0, Index heads = 1);

/// Cells that are visible, masked or left alone, depending on row and key.
std::shared_ptr<const CellTable> codeCells(Index heads, Index queries, Index keys, bool all);

}  // namespace headscope::attention::test
