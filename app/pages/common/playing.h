#pragma once

namespace headscope::app {

/// Something that goes on by itself, a step at a time.
struct Playing {
  bool on = false;
  double since = 0;  ///< View::time of the last step
};

}  // namespace headscope::app
