#include "app/headless.h"

#include <stdexcept>
#include <string>

#include "app/widgets/frame_drawing.h"

namespace headscope::app {

HeadlessApp::HeadlessApp(int width, int height, float scale, std::span<const PageRow> rows,
                         const Limits& limits)
    : width_(width),
      height_(height),
      scale_(scale),
      fonts_(std::make_unique<FontBook>(scale)),
      context_(width, height),
      ui_(std::move(fonts_)),
      session_(
          ui_, limits, [] {}, rows) {
  ui_.keep(Ui::Keep::framebuffer);
  session_.view().quickFrames = false;
  session_.view().showTimings = false;
  session_.view().preferences.reducedMotion = true;
  session_.view().preferences.numbers = 1;  // the point, wherever this runs
}

void HeadlessApp::frame(double elapsed) {
  context_.bind();
  session_.frame(width_, height_, scale_, elapsed);
}

void HeadlessApp::draw(double elapsed) {
  session_.settle();
  // What a frame finds room for may ask for more, and that again.
  constexpr int kLeast = 4, kMost = 1000;
  bool changed = true;
  for (int i = 0; i < kLeast || changed; ++i) {
    if (i == kMost)
      throw std::runtime_error("The page still changes after " + std::to_string(kMost) + " frames.");
    frame(elapsed);
    changed = session_.settle();
  }
  frame(elapsed);
}

Drawing HeadlessApp::drawing() {
  Drawing drawn;
  session_.takePicture([&drawn](Drawing drawing) { drawn = std::move(drawing); });
  frame();
  return drawn;
}

attention::Result<Drawing> HeadlessApp::figure(Scene scene, const FigureView& how) {
  View& view = session_.view();
  const bool presented = std::exchange(view.present, true);
  view.figure = how;
  session_.setScene(std::move(scene));
  const int width = std::exchange(width_, 0), height = height_;
  // The framebuffer keeps its size: of a figure nothing but the drawing is looked at.
  for (int i = 0; i < 4; ++i) {
    const auto pixels = [&](float units) { return std::clamp(static_cast<int>(units * scale_), 64, 16384); };
    const ImVec2 size = view.figure->size;
    if (width_ == pixels(size.x) && height_ == pixels(size.y)) break;
    width_ = pixels(size.x);
    height_ = pixels(size.y);
    draw();
  }
  const std::optional<std::string> error = session_.error();
  Drawing drawn = error ? Drawing() : drawing();
  view.figure.reset();
  view.present = presented;
  width_ = width;
  height_ = height;
  if (error) return attention::Error{*error};
  return drawn;
}

Drawing HeadlessApp::sheet(int width, int height, float unit,
                           const std::function<void(const View&, Canvas)>& paint) {
  context_.bind();
  View& view = session_.view();
  view.unit = unit;
  view.theme = view.preferences.light ? &lightTheme() : &darkTheme();
  ui_.setScale(unit);
  view.fonts = &ui_.fonts();
  ui_.record(true);
  ui_.frame(width, height, 0, {1, 1, 1},
            [&](const FrameInput&) { paint(view, *ImGui::GetBackgroundDrawList()); });
  Drawing drawing = frameDrawing(view, ui_.recorded(), session_.heatmaps(), width, height);
  ui_.record(false);
  return drawing;
}

void HeadlessApp::resize(int width, int height, float scale) {
  width_ = width;
  height_ = height;
  scale_ = scale;
  context_.resize(width, height);
  ui_.forgetFrame();
}

}  // namespace headscope::app
