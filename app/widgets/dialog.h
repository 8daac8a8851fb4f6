#pragma once

#include <limits>
#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// A dialog that covers the window until it is answered. Its state lasts as long as the object. Escape or a
/// click outside closes it.
class Dialog {
 public:
  virtual ~Dialog() = default;
  /// The name used by tests and by its window.
  virtual std::string name() const = 0;
  /// Draws the dialog and handles input; `opening` is true in its first frame.
  virtual void draw(Scene& scene, View& view, bool opening) = 0;
  /// Returns the seconds until it must be redrawn without input.
  virtual double nextFrameIn() const { return std::numeric_limits<double>::infinity(); }

  void frame(Scene& scene, View& view) {
    draw(scene, view, opening_);
    opening_ = false;
  }

 private:
  bool opening_ = true;
};

/// Begins a titled box in the middle of the window over a shade; a click outside closes it. Sizes are in
/// layout units. With `atBottom`, the box is at the lower edge and there is no shade, so the heads above stay
/// visible.
bool beginDialog(View& view, const char* name, const std::string& title, float width, float height,
                 bool atBottom = false);
void endDialog();

}  // namespace headscope::app
