#pragma once

#include <span>
#include <string_view>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Every mask pattern there is. i is the query's and j the key's absolute position; the formulas stand in
/// the table.
enum class PatternKind {
  full,
  causal,
  causalTopLeft,
  padding,
  window,
  windowBack,
  windowBoth,
  dilated,
  sinks,
  streaming,
  chunked,
  globals,
  longformer,
  strided,
  fixed,
  bigBird,
  prefixLm,
  documents,
  packed,
  sharedPrefix,
  blockDiagonal,
  blockCausal,
  blockDiffusion,
  tree,
  neighborhood,
  neighborhoodZ,
  image,
  intervals,
  painted,
  file,
};

enum class ParameterKind {
  count,       ///< a whole number, or a list of them: one per head, repeated when there are more heads
  positions,   ///< a list of positions, ascending
  spans,       ///< a list of spans, as in [0-3, 8-11]: first and last position, both inside
  parents,     ///< a list of node numbers; −1 hangs from the prefix
  name,        ///< quoted text: a painting's name
  path,        ///< quoted text: a file
  convention,  ///< one of the words visible, masked, additive
};

struct ParameterInfo {
  std::string_view name;
  ParameterKind kind = ParameterKind::count;
  Index low = 0, high = 0;  ///< for counts: what can be given
  Index standard = 0;       ///< for counts: what stands when nothing is given
  bool fromText = false;    ///< left out, it comes from the marks on the text
  std::string_view meaning;
};

struct PatternInfo {
  PatternKind kind;
  std::string_view name;     ///< in expressions
  std::string_view title;    ///< on screen
  std::string_view formula;  ///< visible(i, j) in symbols
  std::string_view users;    ///< models and papers
  std::string_view example;  ///< an expression that shows it on some two dozen tokens
  std::span<const ParameterInfo> parameters;
  bool comparesPositions = true;  ///< needs queries and keys to be one sequence: left out in cross-attention
  bool takesInner = false;        ///< its first argument is an expression
};

/// In the order of PatternKind.
std::span<const PatternInfo> patternTable();
const PatternInfo& infoOf(PatternKind kind);
/// By the name in expressions; null if there is none.
const PatternInfo* findPattern(std::string_view name);

/// Largest count a parameter takes: more tokens than can be typed, and no sum of two overflows.
inline constexpr Index kMaxMaskCount = Index{1} << 30;

}  // namespace headscope::attention
