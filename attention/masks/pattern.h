#pragma once

#include <span>
#include <string_view>

#include "attention/core/tensor.h"
#include "attention/masks/pattern_list.h"

namespace headscope::attention {

struct TextPart;

#define HEADSCOPE_PATTERN_NAME(name) name,
/// Every mask pattern there is, an index into the table.
enum class PatternKind { HEADSCOPE_PATTERNS(HEADSCOPE_PATTERN_NAME) };
#undef HEADSCOPE_PATTERN_NAME

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
  const TextPart* fromText =
      nullptr;                     ///< what stands for it when it is left out (text_parts.h); null for none
  std::string_view meaning;        ///< one phrase for people
  std::string_view symbol = {};    ///< in formulas, where it comes from the text
  bool fitsKeys = false;           ///< for counts: can't be more than there are keys
  Index step = 1;                  ///< for counts: low, low + step, low + 2 · step, …
  std::string_view notAbove = {};  ///< for counts: the parameter it can't be more than
};

/// What people are told about a pattern. i is the query's and j the key's absolute position.
struct PatternInfo {
  PatternKind kind = PatternKind::full;
  std::string_view name = {};     ///< in expressions
  std::string_view title = {};    ///< on screen
  std::string_view help = {};     ///< what it does, in one sentence
  std::string_view formula = {};  ///< visible(i, j) in symbols
  std::string_view users = {};    ///< models and papers
  std::string_view example = {};  ///< an expression that shows it on some two dozen tokens
  std::span<const ParameterInfo> parameters = {};
  bool comparesPositions = true;  ///< goes by how query and key lie to each other
  bool takesInner = false;        ///< its first argument is an expression
  /// The place of the parameter called so; their number for none.
  std::size_t indexOf(std::string_view parameter) const {
    std::size_t at = 0;
    while (at < parameters.size() && parameters[at].name != parameter) ++at;
    return at;
  }
};

/// In the order of PatternKind.
std::span<const PatternInfo> patternTable();
const PatternInfo& infoOf(PatternKind kind);
/// By the name in expressions; null if there is none.
const PatternInfo* findPattern(std::string_view name);

/// Largest count a parameter takes: more tokens than can be typed, and no sum of two overflows.
inline constexpr Index kMaxMaskCount = Index{1} << 30;

}  // namespace headscope::attention
