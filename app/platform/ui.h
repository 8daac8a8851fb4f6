#pragma once

#include <array>
#include <functional>

#include "app/platform/fonts.h"
#include "app/platform/input_queue.h"
#include "app/platform/ui_state.h"

namespace headscope::app {

/// Dear ImGui with its renderer, fonts and input: what the window, headless rendering and tests share.
/// Needs a current OpenGL context for its whole life.
class Ui {
 public:
  /// Throws std::runtime_error if ImGui's renderer can't start.
  Ui();
  ~Ui();
  Ui(const Ui&) = delete;
  Ui& operator=(const Ui&) = delete;

  InputQueue& input() { return input_; }
  const Fonts& fonts() const { return fonts_.fonts(); }
  float scale() const { return fonts_.scale(); }

  /// Pixels per unit of the layout: monitor scale × text size. Fonts follow at the next frame.
  void setScale(float scale);
  /// The text that is not of Dear ImGui's atlas.
  Typesetter& typesetter() { return state_.typesetter; }

  /// Runs `draw` once per waiting edge of input, then renders the last of these frames into the bound
  /// framebuffer (width × height pixels, cleared to `clear`). `elapsed` is the time since the last call.
  void frame(int width, int height, double elapsed, const std::array<float, 3>& clear,
             const std::function<void(const FrameInput&)>& draw);

 private:
  void feed(const FrameInput& frame);
  UiState state_;
  InputQueue input_;
  FontBook fonts_;
  bool fontsStale_ = true;
};

}  // namespace headscope::app
