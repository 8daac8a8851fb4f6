#include "app/pages/talk/talk_page.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "app/widgets/panel.h"

namespace headscope::app::talk_page {

void Page::arrange(Document& own) {
  applyMoves(own);
  place(own.scene());
  if (!travel_.active()) return;
  travel_.advance(staged()->scene(), services_.view.time);
  services_.view.redraw(2);
}

void Page::applyMoves(Document& own) {
  Index& at = own.scene().cursor.view;
  const auto last = static_cast<Index>(own.scene().talk->views.size()) - 1;
  if (const auto to = std::exchange(page_.goTo, std::nullopt)) at = *to;
  const auto move = std::exchange(page_.move, std::nullopt);
  if (!move || last < 0) return;
  at = std::clamp<Index>(at, 0, last);
  if (*move == Move::next) at = std::min(at + 1, last);
  if (*move == Move::back) at = std::max<Index>(at - 1, 0);
  if (*move == Move::first) at = 0;
  if (*move == Move::last) at = last;
  edit(own, *move);
}

/// Applies a move. Each edit of the talk becomes a step in the window's document.
void Page::edit(Document& own, Move move) {
  Scene& scene = own.scene();
  Index& at = scene.cursor.view;
  const auto shown = static_cast<int>(at), last = static_cast<int>(scene.talk->views.size()) - 1;
  const auto step = [&](int to) {
    if (to < 0 || to > last) return;
    moveView(scene, shown, to);
    at = to;
  };
  own.record();
  if (move == Move::earlier) step(shown - 1);
  if (move == Move::later) step(shown + 1);
  if (move == Move::remove) removeView(scene, shown);
  if (move == Move::duplicate) {
    TalkView copy = scene.talk->views[static_cast<std::size_t>(shown)];
    if (const int to = addView(scene, std::move(copy), shown); to >= 0) at = to;
  }
  if (move == Move::keep && page_.stage.changed() && shown == page_.at) {
    // A new stage: the next undo takes back that the change was kept.
    scene.talk.edit().views[static_cast<std::size_t>(shown)].scene =
        viewScene(page_.stage.document()->scene());
    page_.stage.take();
    services_.view.say("Your changes are kept in the view.");
  }
  if (move == Move::restore) page_.stage.restore();
  own.record();
}

/// Puts the current view on the stage.
void Page::place(Scene& own) {
  const auto& views = own.talk->views;
  page_.count = static_cast<int>(views.size());
  if (views.empty()) return clearStage();
  own.cursor.view = std::clamp<Index>(own.cursor.view, 0, page_.count - 1);
  const int at = static_cast<int>(own.cursor.view);
  page_.shows = page_.shows || at != page_.at;
  const std::shared_ptr<const Scene>& scene = views[static_cast<std::size_t>(at)].scene;
  // Two views may share a scene, but a change in one doesn't belong to the other.
  if (scene == placed_ && page_.stage.document() && at == page_.at) return;
  std::optional<Scene> before;
  if (services_.view.present && !services_.view.preferences.reducedMotion && staged())
    before = staged()->scene();
  clearStage();
  page_.at = at;
  placed_ = scene;
  Scene written = *scene;
  // A stage can't contain another stage.
  if (written.cursor.page == "lessons" || written.cursor.page == "talk") written.cursor.page = "heads";
  const auto left = left_.extract(placed_);
  page_.stage.put(std::move(written), left.empty() ? nullptr : left.mapped());
  if (before) travel_.begin(*before, page_.stage.written(), services_.view.time, services_.view.walkSeconds);
  services_.view.controls = {};
  services_.view.redraw();
}

/// Restores what was changed on the stage; the change can be undone when the same view is staged again.
void Page::clearStage() {
  const std::shared_ptr<const Scene> scene = std::exchange(placed_, nullptr);
  if (!page_.stage.document()) return;
  if (travel_.active()) travel_.finish(staged()->scene());
  if (page_.stage.changed()) {
    page_.stage.restore();
    if (!services_.view.present)
      services_.view.say(
          fmt::format("{} is back to its saved state. Undo there to restore your changes.", placeText()));
  }
  if (auto left = page_.stage.take()) left_[scene] = std::move(left);
}

void Page::reset() {
  clearStage();
}

std::string Page::placeText() const {
  return fmt::format("View {}", page_.at + 1);
}

std::vector<Staged> Page::stages() const {
  if (!page_.stage.changed()) return {};
  return {{staged(), fmt::format("view {} of the talk, not kept", page_.at + 1)}};
}

Layout Page::stageLayout(const Layout& window, bool hasSide, bool hasStrip) const {
  const View& view = services_.view;
  const ImVec2 size = window.status.Max;
  const float strip = window.presents ? 0 : stripHeight(view, size.y);
  return layoutFor(view, size.x, size.y - strip, hasSide, hasStrip);
}

void Page::draw(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  if (page_.count == 0) {
    const ImRect area(0, layout.center.Min.y, layout.status.Max.x, layout.status.Min.y);
    if (beginPanel(view, "talk.empty", area, 0, 0))
      emptyMessage(view, area, "No views yet",
                   "A talk is a list of views to present. On any page, Ctrl+Shift+A adds what it shows.",
                   "Go to Heads", "page.heads");
    return endPanel();
  }
  if (layout.presents) return;
  const float top = layout.status.Min.y - stripHeight(view, layout.status.Max.y);
  strip(page_, scene, ImRect(0, top, layout.status.Max.x, layout.status.Min.y));
}

std::vector<CaptionPart> Page::caption(const Scene&) const {
  if (page_.count == 0) return {{"The talk has no views yet", services_.view.theme->text}};
  return {};
}

std::string Page::notes(const Scene& scene) const {
  const auto& views = scene.talk->views;
  const auto at = static_cast<std::size_t>(page_.at);
  return at < views.size() ? views[at].notes : "";
}

std::shared_ptr<const Scene> Page::nextScene(const Scene& scene) const {
  const auto& views = scene.talk->views;
  const auto next = static_cast<std::size_t>(page_.at) + 1;
  return next < views.size() ? views[next].scene : nullptr;
}

PageStatus Page::status(const Scene&) const {
  PageStatus status;
  status.figures = {{"views", std::to_string(page_.count)}};
  return status;
}

}  // namespace headscope::app::talk_page
