#pragma once

#include <map>
#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// The places of named elements. An element that was elsewhere in the last frame moves from there to its
/// new place; one that is new is there at once. Only what a click, a key or a step changed moves:
/// nothing waits for a drag or for the window's size, and nothing moves with reduced motion.
class Motion {
 public:
  static constexpr double kSeconds = 0.25;

  /// Returns the place of `name` in this frame, on its way to `target`, in pixels. Call once per frame for
  /// each element, with the name that tests know it by.
  ImRect place(View& view, const std::string& name, const ImRect& target);
  /// Whether it is on its way.
  bool moves(const View& view, const std::string& name) const;

 private:
  struct Element {
    ImRect from, to, drawn;
    double since = -kSeconds;
    int frame = -2;  ///< the last in which it was drawn
  };
  std::map<std::string, Element> elements_;
  ImVec2 window_;
};

}  // namespace headscope::app
