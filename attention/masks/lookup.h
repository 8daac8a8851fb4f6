#pragma once

#include "attention/masks/program.h"

namespace headscope::attention {

/// The languages a mask can be exported to.
enum class MaskCode { flexAttention, pytorch, numpy };

/// The spelling of operations in one library.
class CodeDialect {
 public:
  explicit CodeDialect(MaskCode language) : language_(language) {}

  bool isTorch() const { return language_ != MaskCode::numpy; }
  /// Whether tables must be moved to the device that computes the mask, as for a mask_mod.
  bool onDevice() const { return language_ == MaskCode::flexAttention; }
  /// Returns "torch.zeros(24, dtype=torch.int64)".
  std::string zeros(const std::string& shape, const char* type) const {
    return module() + ".zeros(" + shape + ", dtype=" + dtype(type) + ")";
  }
  /// Returns an array of integers made from a Python list expression.
  std::string integers(const std::string& list) const {
    return module() + (isTorch() ? ".tensor(" : ".array(") + list + ", dtype=" + dtype("int64") + ")";
  }
  std::string arange(Index count) const { return module() + ".arange(" + std::to_string(count) + ")"; }
  std::string module() const { return isTorch() ? "torch" : "np"; }

 private:
  std::string dtype(const std::string& type) const {
    return type == "bool" && !isTorch() ? "bool" : module() + "." + type;
  }

  MaskCode language_;
};

/// The arrays used by formulas, each defined once however many heads use it.
class CodeTables {
 public:
  explicit CodeTables(const CodeDialect& dialect) : dialect_(dialect) {}

  /// Returns the name of the array created by `definition`, lines of code with "@" in place of the name. The
  /// name is `name`, numbered from the second array of that name on.
  std::string define(const std::string& name, const std::string& definition);
  const std::string& code() const { return code_; }

 private:
  CodeDialect dialect_;
  std::map<std::string, std::string> names_;  ///< by definition
  std::map<std::string, Index> counts_;       ///< by name
  std::string code_;
};

/// Returns "[7, 16]"; long lists are broken into lines.
std::string codeList(const std::vector<std::string>& items);
std::string codeList(const std::vector<Index>& values);
/// Returns "(0, 4, 9)".
std::string codeTuple(std::initializer_list<Index> values);

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
