#include "app/headless.h"

#include <stdexcept>
#include <string>

namespace headscope::app {

HeadlessApp::HeadlessApp(int width, int height, float scale, std::span<const PageRow> rows,
                         const Limits& limits)
    : width_(width),
      height_(height),
      scale_(scale),
      context_(width, height),
      session_(
          ui_, limits, [] {}, rows) {
  session_.view().quickFrames = false;
  session_.view().showTimings = false;
  session_.view().preferences.reducedMotion = true;
}

void HeadlessApp::frame() {
  context_.bind();
  session_.frame(width_, height_, scale_, 1.0 / 60);
}

void HeadlessApp::draw() {
  session_.settle();
  // What a frame finds room for may ask for more, and that again.
  constexpr int kLeast = 4, kMost = 1000;
  bool changed = true;
  for (int i = 0; i < kLeast || changed; ++i) {
    if (i == kMost)
      throw std::runtime_error("The page still changes after " + std::to_string(kMost) + " frames.");
    frame();
    changed = session_.settle();
  }
  frame();
}

void HeadlessApp::resize(int width, int height, float scale) {
  width_ = width;
  height_ = height;
  scale_ = scale;
  context_.resize(width, height);
}

}  // namespace headscope::app
