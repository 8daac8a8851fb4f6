#pragma once

#include <span>
#include <string_view>

#include "attention/core/tensor.h"

/// All mask patterns, in the order they are shown. To add one, add a row here and a file in patterns/ that
/// defines patterns::name; PatternKind, the table and the declarations are generated from this list.

#define HEADSCOPE_PATTERNS(ROW) \
  ROW(full)                     \
  ROW(causal)                   \
  ROW(causalTopLeft)            \
  ROW(padding)                  \
  ROW(window)                   \
  ROW(windowBack)               \
  ROW(windowBoth)               \
  ROW(dilated)                  \
  ROW(sinks)                    \
  ROW(streaming)                \
  ROW(chunked)                  \
  ROW(globals)                  \
  ROW(longformer)               \
  ROW(strided)                  \
  ROW(fixed)                    \
  ROW(bigBird)                  \
  ROW(prefixLm)                 \
  ROW(documents)                \
  ROW(packed)                   \
  ROW(sharedPrefix)             \
  ROW(blockDiagonal)            \
  ROW(blockCausal)              \
  ROW(blockDiffusion)           \
  ROW(tree)                     \
  ROW(neighborhood)             \
  ROW(neighborhoodZ)            \
  ROW(image)                    \
  ROW(intervals)                \
  ROW(painted)                  \
  ROW(file)

namespace headscope::attention {

struct TextPart;

#define HEADSCOPE_PATTERN_NAME(name) name,
/// All mask patterns; the values are indices into the table.
enum class PatternKind { HEADSCOPE_PATTERNS(HEADSCOPE_PATTERN_NAME) };
#undef HEADSCOPE_PATTERN_NAME

enum class ParameterKind {
  count,       ///< a whole number, or a list of them: one per head, repeated if there are more heads
  positions,   ///< a list of positions, ascending
  spans,       ///< a list of spans, as in [0-3, 8-11]: first and last position, both inclusive
  parents,     ///< a list of node numbers; −1 = the prefix
  name,        ///< quoted text: a painting's name
  path,        ///< quoted text: a file
  convention,  ///< one of the words visible, masked, additive
};

struct ParameterInfo {
  std::string_view name;
  ParameterKind kind = ParameterKind::count;
  Index low = 0, high = 0;             ///< for counts: allowed range, inclusive
  Index defaultValue = 0;              ///< for counts: default value
  const TextPart* fromText = nullptr;  ///< default taken from the text (patterns/definition.h); null = none
  std::string_view meaning;            ///< one phrase for people
  std::string_view symbol = {};        ///< used in formulas if the value comes from the text
  bool clips = false;                  ///< for counts: more than the keys counts as all of them
  Index step = 1;                      ///< for counts: low, low + step, low + 2 · step, …
  std::string_view notAbove = {};      ///< for counts: another parameter that is its upper limit
};

/// The description of a pattern. i and j are the absolute positions of query and key.
struct PatternInfo {
  PatternKind kind = PatternKind::full;
  std::string_view name = {};     ///< in expressions
  std::string_view title = {};    ///< on screen
  std::string_view help = {};     ///< its effect in one sentence
  std::string_view formula = {};  ///< visible(i, j) in symbols
  std::string_view users = {};    ///< models and papers
  std::string_view example = {};  ///< an expression that shows the pattern on about two dozen tokens
  std::span<const ParameterInfo> parameters = {};
  bool comparesPositions = true;  ///< depends on the positions of query and key relative to each other
  bool takesInner = false;        ///< the first argument is an expression
  /// Returns the index of a parameter; parameters.size() if there is none of that name.
  std::size_t indexOf(std::string_view parameter) const {
    std::size_t at = 0;
    while (at < parameters.size() && parameters[at].name != parameter) ++at;
    return at;
  }
};

/// In the order of PatternKind.
std::span<const PatternInfo> patternTable();
const PatternInfo& infoOf(PatternKind kind);
/// Finds a pattern by its name in expressions; null if there is none.
const PatternInfo* findPattern(std::string_view name);

/// The largest count a parameter takes: above any typed text's length, and the sum of two doesn't overflow.
inline constexpr Index kMaxMaskCount = Index{1} << 30;

}  // namespace headscope::attention
