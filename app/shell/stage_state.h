#pragma once

#include <limits>
#include <string>
#include <vector>

#include "app/platform/imgui_compat.h"

namespace headscope::app {

/// Seconds without mouse input until the pointer and the stage's bar are hidden while presenting.
inline constexpr double kPointerRests = 2;
/// Seconds that a pressed key is shown while presenting.
inline constexpr double kKeyShown = 1;

/// The presentation's state: the lecturer's tools over the page, and the last key pressed.
struct StageState {
  double movedAt = -std::numeric_limits<double>::infinity();  ///< last mouse input, in View::time
  std::string key;                                            ///< action id of the last key pressed
  double keyAt = -std::numeric_limits<double>::infinity();
  int width = 0, height = 0;  ///< size of the window in the last frame
  bool blank = false;         ///< the screen is dark, so that people listen
  bool notes = false;         ///< the notes are shown over the page
  bool lecturer = false;      ///< the lecturer has a separate window
  double since = 0;           ///< when presenting began, in View::time
  bool frozen = false;        ///< the window keeps its picture regardless of changes
  bool laser = false, spotlight = false, magnifies = false;
  float magnified = 1;  ///< current magnification, moving towards the one that `magnifies` implies
  struct Spot {
    ImVec2 at;
    double time;
  };
  std::vector<Spot> trail;  ///< the laser's recent positions, oldest first
  bool pen = false;         ///< the mouse draws
  bool drawing = false;     ///< a stroke is being drawn, the scene's last one
  std::size_t example = 0;  ///< index of the next example text
};

}  // namespace headscope::app
