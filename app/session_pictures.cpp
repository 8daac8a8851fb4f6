#include "app/session_pictures.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "app/platform/ui.h"
#include "app/session_figure.h"
#include "render/picture.h"

namespace headscope::app {

namespace {

// Painted large enough for the layout of a hall, kept smaller.
constexpr int kPaintedWidth = 960, kPaintedHeight = 540, kKeptWidth = 480, kKeptHeight = 270;

Limits smallLimits() {
  return {defaultLimits().memoryBytes / 4};
}

}  // namespace

struct ScenePainter::Painting {
  explicit Painting(const std::function<void()>& wake)
      : surface(kPaintedWidth, kPaintedHeight), session(ui, smallLimits(), wake) {
    View& view = session.view();
    view.quickFrames = view.showTimings = false;
    view.preferences.reducedMotion = true;
    view.present = true;
  }

  Ui ui;
  render::Picture surface;
  Session session;
  std::shared_ptr<const Scene> scene;  ///< being painted; null = none
  int still = 0;
  std::map<std::shared_ptr<const Scene>, render::Picture> kept;
};

ScenePainter::ScenePainter(std::function<void()> wake) : wake_(std::move(wake)) {}
ScenePainter::~ScenePainter() = default;

void ScenePainter::begin(const View& view, std::shared_ptr<const Scene> scene) {
  Painting& painting = *painting_;
  Scene shown = *scene;
  const auto& views = scene->talk->views;
  if (shown.cursor.page == "talk" && !views.empty())
    shown = *views[static_cast<std::size_t>(std::clamp<Index>(shown.cursor.view, 0, std::ssize(views) - 1))]
                 .scene;
  if (shown.cursor.page == "talk" || shown.cursor.page == "lessons") shown.cursor.page = "heads";
  painting.session.view().preferences.light = view.preferences.light;
  painting.session.setScene(std::move(shown));
  painting.scene = std::move(scene);
  painting.still = 0;
}

/// Drops the pictures of scenes that are neither shown nor in the talk.
void ScenePainter::forgetOthers(View& view, const Scene& own) {
  std::set<std::shared_ptr<const Scene>> stay(view.pictures.shown.begin(), view.pictures.shown.end());
  for (const TalkView& each : own.talk->views) stay.insert(each.scene);
  std::erase_if(view.pictures.painted, [&](const auto& entry) { return !stay.contains(entry.first); });
  std::erase_if(painting_->kept, [&](const auto& entry) { return !stay.contains(entry.first); });
}

void ScenePainter::step(View& view, const Scene& own) {
  if (painting_) {
    if (painting_->session.view().preferences.light != view.preferences.light) {
      view.pictures.painted.clear();
      painting_->kept.clear();
      painting_->session.view().preferences.light = view.preferences.light;
      view.redraw(2);
    }
    forgetOthers(view, own);
  }
  const std::shared_ptr<const Scene> wanted = view.pictures.wanted();
  if (!wanted) return;
  ImGuiContext* const before = ImGui::GetCurrentContext();
  if (!painting_) painting_ = std::make_unique<Painting>(wake_);
  Painting& painting = *painting_;
  if (painting.scene != wanted) begin(view, wanted);
  {
    const Ui::Current current(painting.ui);
    const render::Picture::Bound bound(painting.surface);
    painting.session.frame(kPaintedWidth, kPaintedHeight, 1, 1.0 / 60);
    painting.still = painting.session.busy() ? 0 : painting.still + 1;
    if (painting.still >= kStillFrames) {
      render::Picture& kept = painting.kept[painting.scene] = render::Picture(kKeptWidth, kKeptHeight);
      kept.copyBound(kPaintedWidth, kPaintedHeight);
      view.pictures.painted[painting.scene] = kept.texture();
      painting.scene = nullptr;
      view.redraw(1);
    }
  }
  ImGui::SetCurrentContext(before);
}

double ScenePainter::nextStepIn(const View& view) {
  if (!view.pictures.wanted()) return std::numeric_limits<double>::infinity();
  // While something is being computed for the picture, its worker wakes the window.
  return painting_ && painting_->scene && painting_->session.busy() ? 0.05 : 0.005;
}

}  // namespace headscope::app
