#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "attention/masks/code_tables.h"
#include "attention/masks/program.h"

namespace headscope::attention {

/// An expression in Python, where & and | bind tighter than comparisons.
struct CodeText {
  enum class Bond { atom, all, any, compare };
  std::string text;
  Bond bond = Bond::compare;
};
CodeText codeBoth(const CodeText& a, const CodeText& b);
CodeText codeEither(const CodeText& a, const CodeText& b);
CodeText codeNot(const CodeText& a);

/// Where a rule is asked: what positions are called there, and what they count from.
struct CodePlace {
  std::string i = "i", j = "j";
  const std::vector<Index>* starts = nullptr;  ///< inside documents(…): where they begin
  std::string document;                        ///< and the number of the query's
};

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

/// What painted or read cells come to: which are visible, and about which anything is said (all if empty).
struct CodeCells {
  CodeText visible, said;
  bool saysAll = true;
};

/// Writes rules as expressions; defines the arrays they need.
class RuleCode {
 public:
  RuleCode(const CodeDialect& dialect, const CodeSizes& sizes, CodeTables& tables)
      : dialect_(dialect), sizes_(sizes), tables_(tables) {}

  /// Not for documents, painted and file.
  CodeText write(const Rule& rule, const CodePlace& place);
  CodeCells writeCells(const Rule& rule);
  /// The array of each position's document, and that of where documents begin.
  std::string documentTable(const std::vector<Index>& starts);
  std::string startTable(const std::vector<Index>& starts);

 private:
  CodeText writeLocal(const Rule& rule, const CodePlace& place) const;
  CodeText writeBlocks(const Rule& rule, const CodePlace& place);
  CodeText writeText(const Rule& rule, const CodePlace& place);
  CodeText blockDiffusion(const Rule& rule, const CodePlace& place) const;
  CodeText bigBird(const Rule& rule, const CodePlace& place);
  /// Empty where no row of blocks draws any.
  std::string randomTable(const Rule& rule, const CodePlace& place);
  CodeText global(const Rule& rule, const CodePlace& place);
  CodeText image(const Rule& rule, const CodePlace& place);
  CodeText intervals(const Rule& rule, const CodePlace& place);
  CodeText tree(const Rule& rule, const CodePlace& place);
  CodeText grid(const Rule& rule, const CodePlace& place);
  std::string cellTable(const Rule& rule, bool saysAll) const;

  const CodeDialect& dialect_;
  CodeSizes sizes_;
  CodeTables& tables_;
};

}  // namespace headscope::attention
