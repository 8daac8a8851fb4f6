#include "app/session_figure.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "app/compute/model/recorded_study.h"
#include "app/pages/map/map_page.h"
#include "app/scene/models/open_model.h"

namespace headscope::app {

namespace {

/// A page says how large it would like to be as it is drawn, which may change with its size.
constexpr int kMostSizes = 4;

/// Also of attention that another program recorded, which the window's pages have none of.
Snapshot anySnapshot(const Setup& setup, Resources& resources, std::stop_token stop) {
  const auto& opened = setup.subject.opened;
  return opened && opened->recorded ? recordedSnapshot(setup, resources, stop)
                                    : computeSnapshot(setup, resources, stop);
}

}  // namespace

SessionFigure::SessionFigure(Session& session, PictureKind kind, Scene scene, const FigureView& how)
    : session_(session),
      kind_(kind),
      presented_(std::exchange(session.view().present, true)),
      refused_(attention::success()) {
  session.view().figure = how;
  session.layer().computeWith(anySnapshot);
  attention::Result<Scene> painted = paintedScene(kind, std::move(scene));
  if (painted)
    session.setScene(*std::move(painted));
  else
    refused_ = painted.error();
}

SessionFigure::~SessionFigure() {
  session_.view().figure.reset();
  session_.view().present = presented_;
}

std::optional<attention::Result<Drawing>> SessionFigure::step(float scale) {
  if (!refused_) return refused_.error();
  const auto pixels = [scale](float units) { return std::clamp(static_cast<int>(units * scale), 64, 16384); };
  const ImVec2 wanted = session_.view().figure->size;
  const bool resizes = sizes_ < kMostSizes && (width_ != pixels(wanted.x) || height_ != pixels(wanted.y));
  if (resizes) {
    width_ = pixels(wanted.x);
    height_ = pixels(wanted.y);
    ++sizes_;
  }
  std::optional<attention::Result<Drawing>> drawn;
  if (!resizes && still_ >= kStillFrames) {
    if (const auto status = check(); !status) return status.error();
    session_.takePicture([&drawn](Drawing drawing) { drawn = std::move(drawing); });
  }
  session_.frame(width_, height_, scale, 1.0 / 60);
  still_ = resizes || session_.busy() ? 0 : still_ + 1;
  return drawn;
}

attention::Status SessionFigure::check() const {
  if (const std::optional<std::string> error = session_.error()) return attention::Error{*error};
  const Snapshot* const snapshot = session_.snapshot();
  const auto& map = session_.page<map_page::Page>().state().state;
  const bool ofLayer = !isOfModel(kind_) && kind_ != PictureKind::page && kind_ != PictureKind::map &&
                       kind_ != PictureKind::cost;
  if (ofLayer ? !snapshot || snapshot->sequences.empty() : kind_ == PictureKind::map && (!map || map->empty))
    return attention::Error{"no tokens: there is nothing to draw"};
  return attention::success();
}

struct FigurePainter::Painting {
  Painting(const Session& window, const std::shared_ptr<const FigureWish>& wanted, const Limits& limits,
           const std::function<void()>& wake)
      : wish(wanted), ui(Ui::undrawn(window.ui())), session(*ui, limits, wake) {
    View& view = session.view();
    view.quickFrames = view.showTimings = false;
    view.preferences.light = wish->light;
    view.preferences.numbers = window.view().preferences.numbers;
    view.preferences.reducedMotion = true;
    FigureView how;
    how.alone = wish->kind != PictureKind::page;
    figure.emplace(session, wish->kind, wish->scene, how);
  }

  const std::shared_ptr<const FigureWish> wish;
  const std::unique_ptr<Ui> ui;
  Session session;
  std::optional<SessionFigure> figure;
};

FigurePainter::FigurePainter(const Limits& limits, std::function<void()> wake)
    : limits_(limits), wake_(std::move(wake)) {}
FigurePainter::~FigurePainter() = default;

void FigurePainter::step(Session& window) {
  View& view = window.view();
  ImGuiContext* const before = ImGui::GetCurrentContext();
  // What is no longer wanted goes when its work has ended, which nobody waits for.
  if (painting_ && painting_->wish != view.figureWanted &&
      painting_->session.stop(std::chrono::milliseconds(0)))
    painting_.reset();
  if (!painting_ && view.figureWanted) {
    painting_ = std::make_unique<Painting>(window, view.figureWanted, limits_, wake_);
  } else if (painting_ && painting_->wish == view.figureWanted) {
    const Ui::Current current(*painting_->ui);
    if (auto drawn = painting_->figure->step(painting_->ui->scale())) {
      view.figureWanted.reset();
      view.redraw();
      painting_->wish->then(*std::move(drawn));
    }
  }
  ImGui::SetCurrentContext(before);
}

bool FigurePainter::work() {
  return painting_ && painting_->session.work();
}

double FigurePainter::nextStepIn(const View& window) const {
  if (!painting_ && !window.figureWanted) return std::numeric_limits<double>::infinity();
  // While something is computed, its worker wakes the window.
  return painting_ && painting_->session.busy() ? 0.05 : 0.001;
}

}  // namespace headscope::app
