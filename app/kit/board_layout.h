#pragma once

#include <cfloat>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "imgui_internal.h"

namespace headscope::app {

/// How high a part is: at least `least`, `want` if there is room, then its share `grows` of what is left
/// over, up to `most`. In layout units where pages say it, in pixels inside a BoardPart.
struct PartHeight {
  float least = 0, want = 0, grows = 0, most = FLT_MAX;
};

/// When what leaves only for a part that words next to the page are about leaves: last.
inline constexpr int kForNamed = 100;

/// A part of a board, or columns of parts next to each other.
struct BoardPart {
  std::string name;
  PartHeight height;
  float before = 0;      ///< space above, unless it is the first shown
  int leaves = 0;        ///< parts with 1 leave first, then 2 and so on; 0 = stays
  bool picture = false;  ///< what the board is about, not words about it
  float left = 0, right = 0;
  std::vector<std::vector<BoardPart>> columns = {};
  bool aligned = false;  ///< parts of the same number in all columns are equally high
  std::function<void(const ImRect&)> paint = {};

  bool shown = true;  ///< set by layBoard(), as are
  float top = 0, bottom = 0;
};

/// How a board composes itself.
struct BoardRules {
  bool poster = false;  ///< nobody can scroll: pictures are large, and words take at most kPosterWords
  std::string_view named = {};  ///< the part that matters: on a poster, what may leave leaves for it
};

/// The largest part of a poster's area that words may take while some of them may leave.
inline constexpr float kPosterWords = 0.3f;
/// The largest part of a poster's height that all but the named part may take.
inline constexpr float kPosterOthers = 0.3f;

/// Places the parts one below another from `top` on, within `height` pixels. On a poster, parts leave whole,
/// in the order they state, until the rest fits. Returns the height needed, which is larger than `height` if
/// what stays doesn't fit: a window then scrolls; on a poster pictures get lower.
float layBoard(std::vector<BoardPart>& parts, float top, float height, const BoardRules& rules);

}  // namespace headscope::app
