#include "app/session/headless.h"

#include "app/session/figures.h"

namespace headscope::app {

namespace {

constexpr int kMaxFrames = 1000;

std::runtime_error endless() {
  return std::runtime_error("The page still changes after " + std::to_string(kMaxFrames) + " frames.");
}

/// While an instance exists, frames are run but not drawn.
class Undrawn {
 public:
  explicit Undrawn(Ui& ui) : ui_(ui) { ui_.keep(Ui::Keep::undrawn); }
  ~Undrawn() { ui_.keep(Ui::Keep::framebuffer); }
  Undrawn(const Undrawn&) = delete;
  Undrawn& operator=(const Undrawn&) = delete;

 private:
  Ui& ui_;
};

}  // namespace

HeadlessApp::HeadlessApp(int width, int height, float scale, std::span<const PageRow> rows,
                         const Limits& limits, bool mayBeQuiet)
    : width_(width),
      height_(height),
      scale_(scale),
      fonts_(std::make_unique<FontBook>(scale)),
      context_(width, height, mayBeQuiet),
      ui_(std::move(fonts_), context_.draws()),
      session_(
          ui_, limits, [] {}, rows) {
  ui_.keep(Ui::Keep::framebuffer);
  session_.view().quickFrames = false;
  session_.view().showTimings = false;
  session_.view().preferences.reducedMotion = true;
  session_.view().preferences.numbers = 1;  // a decimal point, whatever the system's locale
}

void HeadlessApp::frame(double elapsed) {
  context_.bind();
  session_.frame(width_, height_, scale_, elapsed);
}

void HeadlessApp::draw(double elapsed) {
  session_.settle();
  {
    const Undrawn before(ui_);
    // A frame may request more work once it knows its layout, and that work more again.
    constexpr int kLeast = 4;
    bool changed = true;
    for (int i = 0; i < kLeast || changed; ++i) {
      if (i == kMaxFrames) throw endless();
      frame(elapsed);
      changed = session_.settle();
    }
  }
  frame(elapsed);
}

Drawing HeadlessApp::drawing() {
  Drawing drawn;
  session_.takePicture([&drawn](Drawing drawing) { drawn = std::move(drawing); });
  frame();
  return drawn;
}

attention::Result<std::vector<Drawing>> HeadlessApp::figures(const std::vector<FigurePage>& pages) {
  context_.bind();
  const Undrawn undrawn(ui_);
  SessionFigure figures(session_, pages);
  for (std::size_t i = 0; i < kMaxFrames * pages.size(); ++i) {
    if (auto drawn = figures.step(scale_)) return *std::move(drawn);
    session_.settle();
  }
  throw endless();
}

attention::Result<Drawing> HeadlessApp::figure(Scene scene, const FigureView& how, PictureKind kind) {
  auto drawn = figures({{.scene = std::move(scene), .kind = kind, .how = how}});
  if (!drawn) return drawn.error();
  return std::move(drawn->front());
}

void HeadlessApp::resize(int width, int height, float scale) {
  width_ = width;
  height_ = height;
  scale_ = scale;
  context_.resize(width, height);
  ui_.forgetFrame();
}

}  // namespace headscope::app
