#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/shell/stage_overlay.h"

namespace headscope::app {

/// A picture in the lecturer's window: a texture whose first row is the lowest, and its sides.
struct LecturerPicture {
  unsigned texture = 0;
  float width = 16, height = 9;
};

/// All that the lecturer's window shows.
struct LecturerState {
  std::string title;  ///< "View 3 of 12 · Eight heads"; "": no talk is presented
  std::string notes;
  std::string clock, elapsed;           ///< "14:05", "12:34"
  std::optional<LecturerPicture> hall;  ///< what the hall sees; nothing before the first frame
  bool blank = false, frozen = false;   ///< which is dark, or stays as it is
  bool hasNext = false;
  std::optional<LecturerPicture> next;  ///< nothing until it is painted
  std::vector<KeyWord> keys;            ///< what can be done here
};

/// "1:02:03", "12:34".
std::string elapsedText(double seconds);
/// The hall's picture and what comes next, notes, clock and keys, over a window of that size.
void lecturerView(View& view, const LecturerState& state, float width, float height);

}  // namespace headscope::app
