#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/platform/input_queue.h"

namespace headscope::test {
namespace {

using app::Finger;
using app::InputEvent;

/// Fingers on a screen, and the mouse events they produce: "m10,20" = move, "-" = move to nowhere, "L" and
/// "l" = left button down and up, "R" and "r" = right button, "w" = wheel, "z" = wheel with Ctrl.
class Screen {
 public:
  void put(const std::vector<Finger>& fingers, double time) { touches_.take(fingers, 1, time); }
  void wait(double time) { touches_.wait(time); }
  std::string said() { return std::exchange(said_, ""); }

 private:
  void hear(const InputEvent& event) {
    if (event.kind == InputEvent::Kind::mouseMove)
      said_ += event.x < 0 ? "-" : "m" + std::to_string(int(event.x)) + "," + std::to_string(int(event.y));
    else if (event.kind == InputEvent::Kind::wheel)
      said_ += event.mods.ctrl ? "z" : "w", wheel = event.y;
    else
      said_ += event.button == 0 ? (event.down ? "L" : "l") : (event.down ? "R" : "r");
    said_ += " ";
  }
  std::string said_;
  app::Touches touches_{[this](const InputEvent& event) { hear(event); }};

 public:
  float wheel = 0;  ///< steps of the last wheel event
};

TEST(Touches, TapIsAClick) {
  Screen screen;
  screen.put({{10, 20}}, 0);
  screen.wait(0.1);
  screen.put({}, 0.2);
  screen.wait(5);
  EXPECT_EQ(screen.said(), "m10,20 L l ");
}

TEST(Touches, TapDuringLongFrameIsAClick) {
  Screen screen;
  screen.put({{10, 20}}, 0);
  screen.wait(3);  // before the release of the finger has been reported
  screen.put({}, 0.2);
  EXPECT_EQ(screen.said(), "m10,20 L l ");
}

TEST(Touches, MovingFingerDragsForAnyDuration) {
  Screen screen;
  screen.put({{10, 20}}, 0);
  screen.put({{60, 20}}, 0.3);
  screen.wait(3);
  screen.put({}, 4);
  EXPECT_EQ(screen.said(), "m10,20 L m60,20 l ");
}

TEST(Touches, LongPressIsARightClick) {
  for (const bool waits : {true, false}) {  // or the time is only noticed when the finger leaves
    Screen screen;
    screen.put({{10, 20}}, 0);
    screen.put({{13, 20}}, 0.1);
    for (double time = 0.15; waits && time < 0.65; time += 0.05) screen.wait(time);
    screen.put({}, 0.7);
    EXPECT_EQ(screen.said(), "m10,20 L m13,20 - l m10,20 R r ");
  }
}

TEST(Touches, TwoFingersScrollAndZoomWithoutClicking) {
  Screen screen;
  screen.put({{10, 20}}, 0);
  screen.put({{10, 20}, {30, 20}}, 0.1);
  EXPECT_EQ(screen.said(), "m10,20 L - l m20,20 ");
  screen.put({{10, 80}, {30, 80}}, 0.2);
  EXPECT_EQ(screen.said(), "m20,80 w ");
  EXPECT_FLOAT_EQ(screen.wheel, 1);
  screen.put({{0, 80}, {40, 80}}, 0.3);
  EXPECT_EQ(screen.said(), "m20,80 z ");
  EXPECT_GT(screen.wheel, 0);
  screen.put({{40, 80}}, 0.4);  // one finger stays
  screen.wait(3);
  screen.put({}, 3);
  EXPECT_EQ(screen.said(), "");
  screen.put({{50, 50}}, 4);
  EXPECT_EQ(screen.said(), "m50,50 L ");
}

}  // namespace
}  // namespace headscope::test
