#pragma once

#include <map>
#include <optional>

#include "attention/masks/lookup.h"
#include "attention/masks/symbolic.h"

namespace headscope::attention {

/// Where a rule is asked: what positions are called there, and what they count from.
struct CodePlace {
  std::string i = "i", j = "j";
  const std::vector<Index>* starts = nullptr;  ///< inside documents(…): where they begin
  std::string document;                        ///< and the number of the query's
};

/// What a layer's cells come to: which are visible, and which it decides at all.
struct CodeCells {
  Written visible, decided;
  bool decidesAll = true;
};

/// Prints one rule's formula as a Python expression, in which & and | bind tighter than comparisons; defines
/// the arrays it needs. What no position changes is worked out.
class RuleCode {
 public:
  RuleCode(const Rule& rule, const CodePlace& place, const CodeDialect& dialect, const CodeSizes& sizes,
           CodeTables& tables)
      : rule_(rule), place_(place), dialect_(dialect), sizes_(sizes), tables_(tables) {}

  CodeCells write();
  /// The array's name; empty where it would hold nothing but 0.
  const std::string& nameOf(const LookupTable& table);

 private:
  Written write(const Truth& truth);
  Written write(const Symbolic& node);
  Written writeOperation(const Symbolic& node);
  Written writeLookup(const Symbolic& node);
  /// The value of what has but one wherever it is asked.
  std::optional<Index> known(const Symbolic& node);
  std::optional<Index> knownOperation(const Symbolic& node);
  Index countOf(std::string_view parameter) const;

  const Rule& rule_;
  const CodePlace& place_;
  const CodeDialect& dialect_;
  const CodeSizes& sizes_;
  CodeTables& tables_;
  std::map<const LookupTable*, std::string> names_;
};

}  // namespace headscope::attention
