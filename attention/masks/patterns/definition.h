#pragma once

#include <algorithm>
#include <array>

#include "attention/masks/lookup.h"
#include "attention/masks/runs.h"
#include "attention/masks/symbolic.h"

namespace headscope::attention {

/// A part of a text's structure that is the default of an argument. Exactly one of the three is set.
struct TextPart {
  Index (*count)(const MaskGeometry&) = nullptr;
  std::vector<Index> TextStructure::*positions = nullptr;
  KeyRuns TextStructure::*spans = nullptr;
};

namespace text_parts {

inline constexpr TextPart keyLength{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.keyLength, 0, at.keys); }};
inline constexpr TextPart half{[](const MaskGeometry& at) { return std::max<Index>(1, at.keys / 2); }};
inline constexpr TextPart prefix{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.prefixLength, 0, at.keys); }};
inline constexpr TextPart treePrefix{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.treePrefix, 0, at.keys); }};
inline constexpr TextPart gridHeight{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.gridHeight, 1, kMaxMaskCount); }};
inline constexpr TextPart gridWidth{
    [](const MaskGeometry& at) { return std::clamp<Index>(at.structure.gridWidth, 1, kMaxMaskCount); }};

inline constexpr TextPart documents{nullptr, &TextStructure::documentStarts};
inline constexpr TextPart globals{nullptr, &TextStructure::globals};
inline constexpr TextPart parents{nullptr, &TextStructure::parents};
inline constexpr TextPart querySegments{nullptr, &TextStructure::querySegments};

inline constexpr TextPart images{nullptr, nullptr, &TextStructure::images};
inline constexpr TextPart keySegments{nullptr, nullptr, &TextStructure::keySegments};

}  // namespace text_parts

/// The arguments of one use of a pattern, for one geometry.
struct Given {
  const PatternInfo& info;
  const PatternUse& use;
  const MaskGeometry& geometry;
  const MaskSources& sources;
  std::array<Index, 5> counts{};  ///< as in Rule

  /// Returns the argument; null if it was omitted.
  const Argument* argument(std::size_t parameter) const;
  /// Returns "dilated's step", or "window" if pattern and parameter have the same name.
  std::string title(std::size_t parameter) const;
  /// Returns the value for `head`.
  Result<Index> count(std::size_t parameter, Index head) const;
  /// Returns a list of ascending positions below `end`. Returns an Error if a given list doesn't fit; lists
  /// from the text are cut. `what` is the plural noun that `end` counts: "keys".
  Result<std::vector<Index>> positions(std::size_t parameter, Index end, const char* what) const;
  /// Returns a list of spans of keys, in the given order. Errors as above.
  Result<std::vector<KeyRun>> spans(std::size_t parameter) const;
};

/// The definition of a pattern. To add one, add a file that defines patterns::name and a row in
/// pattern.h.
struct Pattern {
  PatternInfo info;
  /// Which keys j the query at i sees. Formulas and code are printed from this definition.
  Truth (*visible)(const Number& i, const Number& j) = nullptr;
  /// The same for a whole row, in as many steps as it has runs; `out` is empty on entry. Null if the pattern
  /// has `cells` or info.takesInner, which a formula over positions can't express.
  void (*row)(const Rule&, const RowPlace&, KeyRuns& out) = nullptr;
  /// The lists it uses, the same for all heads with the same counts; null = none.
  Result<RuleLists> (*lists)(const Given&) = nullptr;
  /// The table of a pattern stored cell by cell; null for others.
  Result<std::shared_ptr<const CellTable>> (*cells)(const Given&) = nullptr;
  bool byDistance = false;      ///< visibility depends only on i − j
  std::string_view where = {};  ///< with `cells`: the text in formulas for the cells it decides
};

const Pattern& patternOf(PatternKind kind);
/// Returns the pattern's tree in symbols, for one head; `prime` marks positions relative to a document.
Written patternFormula(const Pattern& pattern, const PatternUse& use, Index head, const std::string& prime);

#define HEADSCOPE_PATTERN_DECLARATION(name) extern const Pattern name;
namespace patterns {
HEADSCOPE_PATTERNS(HEADSCOPE_PATTERN_DECLARATION)
}  // namespace patterns
#undef HEADSCOPE_PATTERN_DECLARATION

// Helpers that define parameters.

constexpr ParameterInfo wholeNumber(std::string_view name, Index low, Index defaultValue,
                                    std::string_view meaning, Index high = kMaxMaskCount) {
  return {name, ParameterKind::count, low, high, defaultValue, nullptr, meaning};
}
/// 1, 3, 5, …
constexpr ParameterInfo oddNumber(std::string_view name, Index defaultValue, std::string_view meaning) {
  ParameterInfo number = wholeNumber(name, 1, defaultValue, meaning, kMaxMaskCount - 1);
  number.step = 2;
  return number;
}
constexpr ParameterInfo noMoreThan(std::string_view other, ParameterInfo parameter) {
  parameter.notAbove = other;
  return parameter;
}
constexpr ParameterInfo readFrom(const TextPart& part, std::string_view name, ParameterKind kind,
                                 std::string_view symbol, std::string_view meaning, Index low = 0,
                                 bool clips = false) {
  return {name, kind, low, kMaxMaskCount, 0, &part, meaning, symbol, clips};
}

/// The decision of a rule with cells for a row and key: 1 visible, 2 masked, 0 undecided.
extern const LookupTable kCells;
/// Whether the rule decides every key of every row.
bool cellsDecideAll(const Rule& rule, const CodeSizes& sizes);

/// Returns the index of the document that contains `position`; `starts` ascend from 0.
std::size_t documentOf(const std::vector<Index>& starts, Index position);

/// Each position's document, and each document's first position, for rules whose lists hold these.
extern const LookupTable kDocument, kDocumentStart;

}  // namespace headscope::attention
