#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/shell/stage_overlay.h"

namespace headscope::app {

/// A picture in the lecturer's window: a texture, bottom row first, and its size.
struct LecturerPicture {
  unsigned texture = 0;
  float width = 16, height = 9;
};

/// The contents of the lecturer's window.
struct LecturerState {
  std::string title;  ///< "View 3 of 12 · Eight heads"; "" = no talk
  std::string notes;
  std::string clock, elapsed;           ///< "14:05", "12:34"
  std::optional<LecturerPicture> hall;  ///< what the hall sees; nothing before the first frame
  bool blank = false, frozen = false;   ///< the hall's screen is dark, or keeps its picture
  bool hasNext = false;
  std::optional<LecturerPicture> next;  ///< nothing until it is painted
  std::vector<KeyHint> keys;            ///< the keys that work here
};

/// Returns "1:02:03" or "12:34".
std::string elapsedText(double seconds);
/// Draws the hall's picture, the next view, notes, clock and keys over a window of that size.
void lecturerView(View& view, const LecturerState& state, float width, float height);

}  // namespace headscope::app
