#pragma once

#include <functional>
#include <span>

#include "app/platform/input_queue.h"

namespace headscope::app {

/// A finger on the screen, in framebuffer pixels.
struct Finger {
  float x = 0, y = 0;
};

/// An adapter that turns touches into mouse input. One finger presses and drags; after resting for kLongPress
/// it cancels its press and clicks the right button. Two fingers scroll, and zoom by pinching (the wheel with
/// Ctrl).
class Touches {
 public:
  static constexpr double kLongPress = 0.5;  ///< seconds
  /// The most time that one frame adds to a press: a finger lifted during a long frame is reported only
  /// afterwards.
  static constexpr double kLongestFrame = 0.1;
  /// The most that a resting finger may move, and the distance two fingers move per wheel step, at scale 1.
  static constexpr float kStillPixels = 12, kStepPixels = 60;

  explicit Touches(std::function<void(InputEvent)> push) : push_(std::move(push)) {}

  /// Takes all fingers on the screen at `time` (seconds) after one was put down, moved or lifted. `scale` is
  /// pixels per unit.
  void take(std::span<const Finger> fingers, float scale, double time);
  /// Call every frame, since time alone turns a press into a long one.
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
  float x_ = 0, y_ = 0, apart_ = 0;  ///< where the finger was put down, or the centre of two; their distance
  double since_ = 0;                 ///< when it was put down
  double seen_ = 0, rested_ = 0;     ///< the last frame's time, and the time counted since the press
};

}  // namespace headscope::app
