#pragma once

#include <limits>
#include <string>

#include "app/widgets/view.h"

namespace headscope::app {

/// A question that covers the window until it is answered. What it knows between frames is its own and goes
/// with it. Escape and a click beside it close it.
class Dialog {
 public:
  virtual ~Dialog() = default;
  /// As tests and its window know it.
  virtual std::string name() const = 0;
  /// Draws it and acts on what the person does; `opening` in its first frame.
  virtual void draw(Scene& scene, View& view, bool opening) = 0;
  /// Seconds until it has to be drawn again without input.
  virtual double nextFrameIn() const { return std::numeric_limits<double>::infinity(); }

  void frame(Scene& scene, View& view) {
    draw(scene, view, opening_);
    opening_ = false;
  }

 private:
  bool opening_ = true;
};

/// A titled box in the middle of the window over a shade; a click outside closes it. Sizes in units. With
/// `atBottom` it stands at the lower edge without a shade, so that the heads above stay in sight.
bool beginDialog(View& view, const char* name, const std::string& title, float width, float height,
                 bool atBottom = false);
void endDialog();

}  // namespace headscope::app
