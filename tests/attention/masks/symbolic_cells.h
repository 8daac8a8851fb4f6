#pragma once

#include "attention/masks/patterns/definition.h"

namespace headscope::attention::test {

/// Works a pattern's tree out cell by cell, apart from the printers.
class SymbolicCells {
 public:
  SymbolicCells(const Rule& rule, const CodeSizes& sizes);

  /// Whether the query in row `row` sees key `key`.
  bool visible(Index row, Index key) const { return value(tree_.node, placeOf(row), key) != 0; }
  /// Whether cells painted or read say anything of that key; every other rule always does.
  bool says(Index row, Index key) const;

 private:
  RowPlace placeOf(Index row) const {
    return {row, sizes_.cacheLength + row, sizes_.keys, sizes_.cacheLength};
  }
  Index value(const Symbolic& node, const RowPlace& place, Index key) const;
  Index countOf(std::string_view parameter) const;

  const Rule& rule_;
  CodeSizes sizes_;
  Truth tree_;
};

}  // namespace headscope::attention::test
