#pragma once

#include <cstdint>
#include <deque>
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

}  // namespace headscope::app
