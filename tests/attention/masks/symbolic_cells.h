#pragma once

#include "attention/masks/patterns/definition.h"

namespace headscope::attention::test {

/// Evaluates a pattern's tree cell by cell, independently of the printers.
class SymbolicCells {
 public:
  SymbolicCells(const Rule& rule, const CodeSizes& sizes);

  /// Whether the query in row `row` sees key `key`.
  bool visible(Index row, Index key) const { return value(tree_.node, placeOf(row), key) != 0; }
  /// Whether painted or read cells say anything about the key; all other rules always do.
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
