#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attention/masks/code_tables.h"
#include "attention/masks/program.h"

namespace headscope::attention {

/// Sizes that all rules of one mask share.
struct CodeSizes {
  Index queries = 0, keys = 0, cacheLength = 0;
  /// Positions that can be asked about.
  Index positions() const { return std::max(cacheLength + queries, keys); }
};

/// What code can't hold; maskCode makes an Error of it.
struct CodeLimit : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Throws "`what` `found`, code holds at most `most`" where there is more.
void limitCode(Index found, Index most, const std::string& what);

/// How many cells an array may have where the code runs, and how many of them the code may spell out.
inline constexpr Index kMaxTableCells = Index{1} << 30, kMaxSpelledOut = Index{1} << 18;

/// What an array is made for.
struct TableSource {
  const Rule& rule;
  const CodeDialect& dialect;
  CodeSizes sizes;
  const std::vector<Index>* starts = nullptr;  ///< inside documents(…): where they begin

  /// "@ = torch.zeros(…)", with `fill` behind it: one assignment for every one of `items`, if there are any.
  std::string filled(const std::string& shape, const char* type, const std::vector<std::string>& items,
                     const std::string& variables, const std::string& assignment) const;
};

/// An array that the formulas of a pattern look things up in.
struct LookupTable {
  std::string_view name;  ///< in code
  /// Lines of Python that make it, "@" for its name; empty where all of it is 0 or false.
  std::string (*define)(const TableSource&) = nullptr;
  /// What stands in it at a, or at [a, b], for the row at the place.
  Index (*value)(const Rule&, const RowPlace&, Index a, Index b) = nullptr;
  bool perDocument = false;  ///< inside documents(…) the document's number is a first index
};

}  // namespace headscope::attention
