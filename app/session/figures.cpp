#include "app/session/figures.h"

#include <fmt/core.h>

#include "app/compute/model/model_study.h"
#include "app/pages/map/map_page.h"

namespace headscope::app {

namespace {

/// The size a page asks for is known once it is drawn, and may change with the size it gets.
constexpr int kMaxSizes = 4;
/// Layout units of a presented picture: type takes the same share of it as in a hall (720 lines, at 5/3).
const ImVec2 kPresented(768, 432);

/// Also for attention recorded by another program, of which the window's pages have no snapshot.
Snapshot anySnapshot(const Setup& setup, Resources& resources, std::stop_token stop) {
  const auto& opened = setup.subject.opened;
  return opened && opened->recorded ? recordedSnapshot(setup, resources, stop)
                                    : computeSnapshot(setup, resources, stop);
}

}  // namespace

SessionFigure::SessionFigure(Session& session, const std::vector<FigurePage>& pages)
    : session_(session),
      pages_(pages),
      presented_(std::exchange(session.view().present, true)),
      shown_(session.view(), session.services().workers, session.services().resources),
      words_(shown_, handoutWords) {
  if (pages.front().how) session.services().layer.computeWith(anySnapshot);
}

SessionFigure::~SessionFigure() {
  session_.view().figure.reset();
  session_.view().present = presented_;
}

attention::Status SessionFigure::begin(const FigurePage& page) {
  attention::Result<Scene> painted = paintedScene(page.kind, page.scene);
  if (!painted) return painted.error();
  picture_ = Picture{};
  session_.view().figure = page.how;
  session_.setScene(*std::move(painted));
  if (page.step.lesson) words_.ask(page.step, Lane::back);
  return attention::success();
}

std::optional<attention::Result<std::vector<Drawing>>> SessionFigure::step(float scale) {
  const FigurePage& page = pages_[drawn_.size()];
  if (!picture_) {
    if (const auto begun = begin(page); !begun) return begun.error();
    return std::nullopt;  // callers that wait for computations do so before the first frame
  }
  std::optional<attention::Result<Drawing>> drawn = paint(page, scale);
  if (!drawn) return std::nullopt;
  if (*drawn && !page.how) drawn = sheet(page, **drawn);
  if (!*drawn) return drawn->error();
  drawn_.push_back(**std::move(drawn));
  picture_.reset();
  if (drawn_.size() < pages_.size()) return std::nullopt;
  return std::move(drawn_);
}

std::optional<attention::Result<Drawing>> SessionFigure::paint(const FigurePage& page, float scale) {
  const auto pixels = [scale](float units) {
    return std::clamp(static_cast<int>(static_cast<double>(units) * scale), 64, 16384);
  };
  const ImVec2 wanted = page.how ? session_.view().figure->size : kPresented;
  const int width = pixels(wanted.x), height = pixels(wanted.y);
  const bool resizes =
      (!page.how || picture_->sizes < kMaxSizes) && (picture_->width != width || picture_->height != height);
  if (resizes) *picture_ = {width, height, picture_->sizes + 1, 0};
  std::optional<attention::Result<Drawing>> drawn;
  if (!resizes && picture_->still >= kStillFrames) {
    if (const auto status = check(page.kind); page.how && !status) return status.error();
    session_.takePicture([&drawn](Drawing drawing) { drawn = std::move(drawing); });
  }
  session_.frame(picture_->width, picture_->height, scale, 1.0 / 60);
  shown_.take();
  const bool said = !page.step.lesson || words_.answers(page.step);
  picture_->still = resizes || session_.busy() || !said ? 0 : picture_->still + 1;
  return drawn;
}

attention::Result<Drawing> SessionFigure::sheet(const FigurePage& page, const Drawing& picture) {
  if (page.step.lesson && !words_.problem().empty()) return attention::Error{words_.problem()};
  const HandoutWords& said = page.step.lesson ? *words_ : page.words;
  const View& view = session_.view();
  const float pixels = sheetPixels(view, said);
  const auto inPixels = [pixels](double units) { return static_cast<int>(units * pixels); };
  const Drawing words = session_.sheet(
      inPixels(kHandoutSheet.width), inPixels(kHandoutSheet.height), view.unit,
      [&](const View&, Canvas list) {
        paintSheet(view, list, said, fmt::format("{} / {}", drawn_.size() + 1, pages_.size()), pixels);
      });
  Drawing sheet{said.title, kHandoutSheet.width, kHandoutSheet.height, words.background, {}};
  sheet.add(words, 0, 0, 1 / static_cast<double>(pixels));
  sheet.shapes.push_back(Box{kHandoutPicture, picture.background});
  sheet.add(picture, kHandoutPicture.x, kHandoutPicture.y, kHandoutPicture.width / picture.width);
  return sheet;
}

attention::Status SessionFigure::check(PictureKind kind) const {
  if (const std::optional<std::string> error = session_.error()) return attention::Error{*error};
  const Snapshot* const snapshot = session_.snapshot();
  const auto& map = session_.page<map_page::Page>().state().state;
  const bool ofLayer =
      !isOfModel(kind) && kind != PictureKind::page && kind != PictureKind::map && kind != PictureKind::cost;
  if (ofLayer ? !snapshot || snapshot->sequences.empty() : kind == PictureKind::map && (!map || map->empty))
    return attention::Error{"no tokens: there is nothing to draw"};
  return attention::success();
}

struct FigurePainter::Painting {
  Painting(const Session& window, std::shared_ptr<FigureRequest> wanted, const Limits& limits,
           const std::function<void()>& wake)
      : wish(std::move(wanted)),
        ui(Ui::undrawn(window.ui())),
        session(*ui, limits, wake),
        figure(session, wish->pages) {
    View& view = session.view();
    view.quickFrames = view.showTimings = false;
    view.preferences.light = wish->light;
    view.preferences.numbers = window.view().preferences.numbers;
    view.preferences.reducedMotion = true;
  }

  const std::shared_ptr<FigureRequest> wish;
  const std::unique_ptr<Ui> ui;
  Session session;
  SessionFigure figure;
};

FigurePainter::FigurePainter(const Limits& limits, std::function<void()> wake)
    : limits_(limits), wake_(std::move(wake)) {}
FigurePainter::~FigurePainter() = default;

void FigurePainter::step(Session& window) {
  View& view = window.view();
  ImGuiContext* const before = ImGui::GetCurrentContext();
  // A painting that is no longer wanted is dropped once its work has ended; nothing waits for that.
  if (painting_ && painting_->wish != view.figureWanted &&
      painting_->session.stop(std::chrono::milliseconds(0)))
    painting_.reset();
  if (!painting_ && view.figureWanted) {
    painting_ = std::make_unique<Painting>(window, view.figureWanted, limits_, wake_);
  } else if (painting_ && painting_->wish == view.figureWanted) {
    const Ui::Current current(*painting_->ui);
    auto drawn = painting_->figure.step(painting_->ui->scale());
    painting_->wish->drawn = painting_->figure.drawn();
    if (drawn) {
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

/// Drops the pictures of scenes that are neither shown, kept nor in the talk.
void ScenePainter::forgetOthers(View& view, const Scene& own) {
  std::set<std::shared_ptr<const Scene>> stay(view.pictures.shown.begin(), view.pictures.shown.end());
  stay.insert(view.pictures.kept.begin(), view.pictures.kept.end());
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
