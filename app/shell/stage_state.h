#pragma once

#include <limits>
#include <string>
#include <vector>

#include "app/platform/imgui_compat.h"

namespace headscope::app {

/// Seconds without the mouse after which the pointer is hidden while presenting, and the stage's bar goes.
inline constexpr double kPointerRests = 2;
/// Seconds that a key which was pressed while presenting is shown.
inline constexpr double kKeyShown = 1;

/// While presenting: what the lecturer holds over the page, and what is said of a key.
struct StageState {
  double movedAt = -std::numeric_limits<double>::infinity();  ///< the mouse did something, in View::time
  std::string key;                                            ///< id of the action whose key was pressed
  double keyAt = -std::numeric_limits<double>::infinity();
  int width = 0, height = 0;  ///< the window's, in the last frame
  bool blank = false;         ///< all is dark, so that people listen
  bool notes = false;         ///< the lecturer's notes lie over the page
  bool lecturer = false;      ///< the lecturer has a window of their own
  double since = 0;           ///< when presenting began, in View::time
  bool frozen = false;        ///< the window keeps its picture, whatever is done
  bool laser = false, spotlight = false, magnifies = false;
  float magnified = 1;  ///< how far it is, on its way to what `magnifies` says
  struct Spot {
    ImVec2 at;
    double time;
  };
  std::vector<Spot> trail;  ///< where the laser was, the oldest first
  bool pen = false;         ///< the mouse draws
  bool drawing = false;     ///< a line of the pen is being drawn, the scene's last
  std::size_t example = 0;  ///< the example text that comes next
};

}  // namespace headscope::app
