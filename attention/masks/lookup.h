#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "attention/masks/code_tables.h"
#include "attention/masks/program.h"

namespace headscope::attention {

/// The sizes shared by all rules of one mask.
struct CodeSizes {
  Index queries = 0, keys = 0, cacheLength = 0;
  /// Returns the number of positions that queries and keys can have.
  Index positions() const { return std::max(cacheLength + queries, keys); }
};

/// Thrown if a mask is too large for code; maskCode() converts it to an Error.
struct CodeLimit : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Throws CodeLimit "`what` `found`, expected at most `most` for code" if found > most.
void limitCode(Index found, Index most, const std::string& what);

/// The most cells an array may have when the code runs, and the most values the code may list explicitly.
inline constexpr Index kMaxTableCells = Index{1} << 30, kMaxSpelledOut = Index{1} << 18;

/// The context an array is created for.
struct TableSource {
  const Rule& rule;
  const CodeDialect& dialect;
  CodeSizes sizes;
  const std::vector<Index>* starts = nullptr;  ///< inside documents(…): the documents' first positions

  /// Returns code that creates an array of zeros, "@ = torch.zeros(…)", and, if there are `items`, a loop
  /// over them that unpacks each into `variables` and runs "@" + `assignment`.
  std::string filled(const std::string& shape, const char* type, const std::vector<std::string>& items,
                     const std::string& variables, const std::string& assignment) const;
};

/// An array that a pattern's formulas index.
struct LookupTable {
  std::string_view name;  ///< in code
  /// Returns lines of Python that create it, with "@" for its name; empty if all of it is 0 or false.
  std::string (*define)(const TableSource&) = nullptr;
  /// Returns its value at [a] or [a, b] for the row at the place.
  Index (*value)(const Rule&, const RowPlace&, Index a, Index b) = nullptr;
  bool perDocument = false;  ///< inside documents(…), the document's number is the first index
};

}  // namespace headscope::attention
