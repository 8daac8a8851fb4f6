#pragma once

#include <functional>
#include <span>

#include "app/platform/input_queue.h"

namespace headscope::app {

/// A finger on the screen, in framebuffer pixels.
struct Finger {
  float x = 0, y = 0;
};

/// Fingers as a mouse: one presses and drags; one that rests for kLongPress gives its press up and is the
/// right button; two turn the wheel, with Ctrl as they move apart or together, which zooms.
class Touches {
 public:
  static constexpr double kLongPress = 0.5;  ///< seconds
  /// What a frame counts for at the most: the finger may have left during a long one, which is told after it.
  static constexpr double kLongestFrame = 0.1;
  /// What a resting finger moves at the most, and what two move for a step of the wheel, at scale 1.
  static constexpr float kStillPixels = 12, kStepPixels = 60;

  explicit Touches(std::function<void(InputEvent)> push) : push_(std::move(push)) {}

  /// The fingers that are on the screen at `time` (seconds), after one of them came, moved or left. `scale`:
  /// pixels of a unit.
  void take(std::span<const Finger> fingers, float scale, double time);
  /// To be called again and again: time alone makes a press a long one.
  void wait(double time);

 private:
  enum class State { none, pressed, held, two };

  void move(float x, float y);
  void press(int button, bool down);
  void turn(float x, float y, Mods mods);
  void takeOne(const Finger& finger, float scale, double time);
  void takeTwo(const Finger& a, const Finger& b, float scale);
  void hold();

  const std::function<void(InputEvent)> push_;
  State state_ = State::none;
  bool still_ = false;
  float x_ = 0, y_ = 0, apart_ = 0;  ///< where the finger came down; the middle of two, and their distance
  double since_ = 0;                 ///< it is down
  double seen_ = 0, rested_ = 0;     ///< the last frame's time, and what the frames since then count for
};

}  // namespace headscope::app
