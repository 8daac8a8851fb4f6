#pragma once

namespace headscope::app {

/// Something that advances by itself, one step at a time.
struct Playback {
  bool on = false;
  double since = 0;  ///< View::time of the last step
};

}  // namespace headscope::app
