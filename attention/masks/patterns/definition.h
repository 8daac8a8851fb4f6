#pragma once

#include <algorithm>
#include <array>

#include "attention/masks/lookup.h"
#include "attention/masks/runs.h"
#include "attention/masks/symbolic.h"
#include "attention/masks/text_parts.h"

namespace headscope::attention {

/// What one use of a pattern was given, over one geometry.
struct Given {
  const PatternInfo& info;
  const PatternUse& use;
  const MaskGeometry& geometry;
  const MaskSources& sources;
  std::array<Index, 5> counts{};  ///< as in Rule

  /// Null where nothing was given.
  const Argument* argument(std::size_t parameter) const;
  /// "dilated's step", or "window" where pattern and parameter have one name.
  std::string title(std::size_t parameter) const;
  /// What `head` goes by.
  Result<Index> count(std::size_t parameter, Index head) const;
  /// A list of positions below `end`, ascending. What was given has to fit; what comes from the text is cut.
  /// `what` there are `end` of: "keys".
  Result<std::vector<Index>> positions(std::size_t parameter, Index end, const char* what) const;
  /// A list of spans among the keys, in the order they were given. As above.
  Result<std::vector<KeyRun>> spans(std::size_t parameter) const;
};

/// All there is to say about a pattern. A new one is a file that defines patterns::name and a row in
/// pattern_list.h.
struct Pattern {
  PatternInfo info;
  /// Which keys j the query at i sees: the definition, of which all texts are printed.
  Truth (*visible)(const Number& i, const Number& j) = nullptr;
  /// The same for a whole row, in as many steps as it has runs; `out` is empty. Null where `cells` or
  /// info.takesInner says more than a formula over positions does.
  void (*row)(const Rule&, const RowPlace&, KeyRuns& out) = nullptr;
  /// The lists it goes by, the same for all heads that have the same counts; null for none.
  Result<RuleLists> (*lists)(const Given&) = nullptr;
  /// For patterns that are held cell by cell: their table.
  Result<std::shared_ptr<const CellTable>> (*cells)(const Given&) = nullptr;
  bool byDistance = false;      ///< i − j alone decides, whatever keys there are
  std::string_view where = {};  ///< with `cells`: which of them it says something about, for formulas
};

const Pattern& patternOf(PatternKind kind);
/// The pattern's tree in symbols, for one head; `prime` marks positions counted inside a document.
Written patternFormula(const Pattern& pattern, const PatternUse& use, Index head, const std::string& prime);

#define HEADSCOPE_PATTERN_DECLARATION(name) extern const Pattern name;
namespace patterns {
HEADSCOPE_PATTERNS(HEADSCOPE_PATTERN_DECLARATION)
}  // namespace patterns
#undef HEADSCOPE_PATTERN_DECLARATION

// What parameters are made of.

constexpr ParameterInfo wholeNumber(std::string_view name, Index low, Index standard,
                                    std::string_view meaning, Index high = kMaxMaskCount) {
  return {name, ParameterKind::count, low, high, standard, nullptr, meaning};
}
/// 1, 3, 5, …
constexpr ParameterInfo oddNumber(std::string_view name, Index standard, std::string_view meaning) {
  ParameterInfo number = wholeNumber(name, 1, standard, meaning, kMaxMaskCount - 1);
  number.step = 2;
  return number;
}
constexpr ParameterInfo noMoreThan(std::string_view other, ParameterInfo parameter) {
  parameter.notAbove = other;
  return parameter;
}
constexpr ParameterInfo readFrom(const TextPart& part, std::string_view name, ParameterKind kind,
                                 std::string_view symbol, std::string_view meaning, Index low = 0,
                                 bool fitsKeys = false) {
  return {name, kind, low, kMaxMaskCount, 0, &part, meaning, symbol, fitsKeys};
}

}  // namespace headscope::attention
