#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace headscope::app {

/// Keys. Letters, digits and punctuation have their ASCII codes (letters upper case).
enum class Key : int {
  none = 0,
  space = ' ',
  comma = ',',
  minus = '-',
  period = '.',
  slash = '/',
  d0 = '0',
  d9 = '9',
  equal = '=',
  a = 'A',
  c = 'C',
  k = 'K',
  l = 'L',
  n = 'N',
  o = 'O',
  p = 'P',
  r = 'R',
  s = 'S',
  t = 'T',
  v = 'V',
  x = 'X',
  y = 'Y',
  z = 'Z',
  tab = 256,
  left,
  right,
  up,
  down,
  pageUp,
  pageDown,
  home,
  end,
  insert,
  del,
  backspace,
  enter,
  escape,
  f1,
  f10,
  f11
};
inline constexpr int kKeyCount = 288;

struct Mods {
  bool ctrl = false, shift = false, alt = false, super = false;
  bool operator==(const Mods&) const = default;
};

struct KeyPress {
  Key key = Key::none;
  Mods mods = {};
  bool operator==(const KeyPress&) const = default;
};

/// One input event; the queue keeps them in order. The window, tests and replays all fill the same queue.
struct InputEvent {
  enum class Kind { mouseMove, mouseButton, wheel, key, text, drop, focusLost } kind = Kind::mouseMove;
  float x = 0, y = 0;   ///< mouseMove: framebuffer pixels; wheel: steps
  int button = 0;       ///< 0 left, 1 right, 2 middle
  bool down = false;    ///< mouseButton, key
  bool repeat = false;  ///< key: held down
  Key key = Key::none;
  Mods mods;                       ///< key, mouseButton, wheel: modifiers at that moment
  std::uint32_t codepoint = 0;     ///< text
  std::vector<std::string> paths;  ///< drop
};

/// The input of one ImGui frame: any number of moves, wheel steps and characters, and at most one key or
/// button event, which comes last. This way fast key sequences survive slow frames.
struct FrameInput {
  std::vector<InputEvent> events;
};

class InputQueue {
 public:
  void push(InputEvent event) { events_.push_back(std::move(event)); }
  bool empty() const { return events_.empty(); }
  FrameInput takeFrame();

 private:
  std::deque<InputEvent> events_;
};

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
