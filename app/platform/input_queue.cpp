#include "app/platform/input_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

FrameInput InputQueue::takeFrame() {
  FrameInput frame;
  while (!events_.empty()) {
    const InputEvent::Kind kind = events_.front().kind;
    frame.events.push_back(std::move(events_.front()));
    events_.pop_front();
    if (kind == InputEvent::Kind::key || kind == InputEvent::Kind::mouseButton) break;
  }
  return frame;
}

namespace {

/// A position where nothing is pressed or hovered.
constexpr float kNowhere = -1e6f;

}  // namespace

void Touches::move(float x, float y) {
  InputEvent event;
  event.x = x;
  event.y = y;
  push_(std::move(event));
}

void Touches::press(int button, bool down) {
  InputEvent event;
  event.kind = InputEvent::Kind::mouseButton;
  event.button = button;
  event.down = down;
  push_(std::move(event));
}

void Touches::turn(float x, float y, Mods mods) {
  InputEvent event;
  event.kind = InputEvent::Kind::wheel;
  event.x = x;
  event.y = y;
  event.mods = mods;
  push_(std::move(event));
}

void Touches::takeOne(const Finger& finger, float scale, double time) {
  if (state_ == State::two || state_ == State::held) return;  // until all fingers are lifted
  move(finger.x, finger.y);
  if (state_ == State::none) {
    state_ = State::pressed;
    still_ = true;
    x_ = finger.x;
    y_ = finger.y;
    since_ = seen_ = time;
    rested_ = 0;
    press(0, true);
  } else if (std::hypot(finger.x - x_, finger.y - y_) > kStillPixels * scale) {
    still_ = false;
  }
}

void Touches::takeTwo(const Finger& a, const Finger& b, float scale) {
  const float x = (a.x + b.x) / 2, y = (a.y + b.y) / 2, apart = std::hypot(a.x - b.x, a.y - b.y);
  const float step = kStepPixels * scale;
  if (state_ == State::pressed) {
    move(kNowhere, kNowhere);  // so that nothing is clicked
    press(0, false);
  }
  move(x, y);
  if (std::exchange(state_, State::two) == State::two) {
    if (const float zoom = (apart - apart_) / step; std::abs(zoom) > 0.02f) turn(0, zoom, {.ctrl = true});
    if (x != x_ || y != y_) turn((x - x_) / step, (y - y_) / step, {});
  }
  x_ = x;
  y_ = y;
  apart_ = apart;
}

void Touches::take(std::span<const Finger> fingers, float scale, double time) {
  if (fingers.size() == 1) return takeOne(fingers[0], scale, time);
  if (fingers.size() >= 2) return takeTwo(fingers[0], fingers[1], scale);
  if (time - since_ >= kLongPress) hold();
  if (std::exchange(state_, State::none) == State::pressed) press(0, false);
}

void Touches::wait(double time) {
  rested_ += std::clamp(time - std::exchange(seen_, time), 0.0, kLongestFrame);
  if (rested_ >= kLongPress) hold();
}

void Touches::hold() {
  if (state_ != State::pressed || !still_) return;
  state_ = State::held;
  move(kNowhere, kNowhere);
  press(0, false);
  move(x_, y_);
  press(1, true);
  press(1, false);
}

}  // namespace headscope::app
