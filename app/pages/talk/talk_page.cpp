#include "app/pages/talk/talk_page.h"

#include <fmt/core.h>

#include "app/platform/assets.h"
#include "app/scene/scene_json.h"
#include "app/scene/text/number_text.h"

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
    TalkView copy = scene.talk->views[asSize(shown)];
    if (const int to = addView(scene, std::move(copy), shown); to >= 0) at = to;
  }
  if (move == Move::keep && page_.stage.changed() && shown == page_.at) {
    // A new stage: the next undo takes back that the change was kept.
    scene.talk.edit().views[asSize(shown)].scene = viewScene(page_.stage.document()->scene());
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
  const std::shared_ptr<const Scene>& scene = views[asSize(at)].scene;
  // Two views may share a scene, but a change in one doesn't belong to the other.
  if (scene == placed_ && page_.stage.document() && at == page_.at) return;
  std::optional<Scene> before;
  if (services_.view.present && !services_.view.preferences.reducedMotion && staged())
    before = staged()->scene();
  clearStage();
  page_.at = at;
  placed_ = scene;
  const auto left = left_.extract(placed_);
  page_.stage.put(*scene, left.empty() ? nullptr : left.mapped());
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
  return {{staged(), fmt::format("view {} of the talk, changes not kept", page_.at + 1)}};
}

Layout Page::stageLayout(const Layout& window, bool hasSide, bool hasStrip) const {
  const View& view = services_.view;
  const ImVec2 size = window.status.Max;
  return layoutFor(view, size.x, size.y - stripHeight(view, size.y), hasSide, hasStrip);
}

void Page::draw(Scene& scene, const Layout& layout) {
  View& view = services_.view;
  if (page_.count == 0) {
    const ImRect area(0, layout.center.Min.y, layout.status.Max.x, layout.status.Min.y);
    if (beginPanel(view, "talk.empty", area, 0, 0))
      emptyMessage(view, area, "No views yet",
                   "A talk is a list of views to present. On any page, “+ Talk” adds what the page shows. "
                   "Learn has finished talks to give or to change.",
                   "Go to Learn", "page.lessons");
    return endPanel();
  }
  if (const float high = stripHeight(view, layout.status.Max.y); high > 0)
    strip(page_, scene, ImRect(0, layout.status.Min.y - high, layout.status.Max.x, layout.status.Min.y));
}

std::vector<CaptionPart> Page::caption(const Scene&) const {
  if (page_.count == 0) return {{"The talk has no views yet", services_.view.theme->text}};
  return {};
}

std::string Page::headline(const Scene& scene) const {
  const auto& views = scene.talk->views;
  const auto at = asSize(page_.at);
  return at < views.size() ? views[at].name : "";
}

std::string Page::notes(const Scene& scene) const {
  const auto& views = scene.talk->views;
  const auto at = asSize(page_.at);
  return at < views.size() ? views[at].notes : "";
}

std::shared_ptr<const Scene> Page::nextScene(const Scene& scene) const {
  const auto& views = scene.talk->views;
  const auto next = asSize(page_.at) + 1;
  return next < views.size() ? views[next].scene : nullptr;
}

PageStatus Page::status(const Scene&) const {
  PageStatus status;
  status.figures = {{"views", std::to_string(page_.count)}};
  return status;
}

// Page's actions.

namespace {

/// A view's default name: "Heads, head 3".
std::string nameOf(const Scene& shown) {
  std::string name = shown.cursor.page;
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return shown.cursor.focus < 0 ? name : fmt::format("{}, head {}", name, shown.cursor.focus);
}

}  // namespace

/// Adds a view of `shown` after the current view if the talk is visible, else at the end.
void Page::addShown(const Scene& shown) {
  View& view = services_.view;
  if (shown.cursor.page == "lessons" || shown.cursor.page == "talk")
    return view.say("A list can't be added to the talk. Open a page or a lesson first.");
  Document& own = *services_.own();
  own.record();
  const bool here = own.scene().cursor.page == "talk";
  const int after = here ? page_.at : static_cast<int>(own.scene().talk->views.size()) - 1;
  const int at = addView(own.scene(), {nameOf(shown), "", viewScene(shown)}, after);
  own.record();
  if (at < 0) return view.messages.fail(fmt::format("A talk has at most {} views.", kMaxTalkViews));
  own.scene().cursor.view = at;
  view.tell(fmt::format("Added as view {} of the talk.", at + 1), view.pressedAt);
}

/// Opens a copy, which belongs to no file, as one undo step.
void Page::openReady(const ReadyTalk& talk, bool presented) {
  services_.files.read<Scene>(
      talk.file,
      [file = talk.file, stop = services_.files.stopToken()] {
        return readScene(assetFolder() / "talks" / file, stop);
      },
      [this, presented, by = Requester(services_.own)](attention::Result<Scene> scene) {
        View& view = services_.view;
        if (!scene) return view.messages.fail(scene.error().message);
        if (!by.scene())
          return view.messages.fail("The talk wasn't opened: another scene was opened meanwhile.");
        const auto views = std::ssize(services_.own()->scene().talk->views);
        services_.own()->open(*std::move(scene), std::filesystem::path());
        view.say(views == 0
                     ? "This is your copy of the talk. Undo restores your scene."
                     : fmt::format("This is your copy of the talk. Undo brings back your own, with {}.",
                                   countedText(views, "view")));
        if (presented) present();
        view.redraw();
      });
}

void Page::present() {
  View& view = services_.view;
  Scene& own = services_.own()->scene();
  if (own.talk->views.empty()) return view.say("The talk has no views yet. Ctrl+Shift+A adds what is shown.");
  own.cursor.page = "talk";
  own.cursor.view = 0;
  view.present = true;
}

std::vector<Action> Page::actions() {
  ActionList list;
  const auto moves = [this](Move move) { return [this, move](Scene&) { page_.move = move; }; };
  constexpr Mods kCtrl{.ctrl = true}, kCtrlShift{.ctrl = true, .shift = true};
  const auto here = [&](const char* id, const char* name, KeyPress key, Move move, const char* words = "") {
    list.add({.id = id, .name = name, .shortcut = key, .repeats = true, .words = words}, moves(move));
  };
  list.add({.id = "talk.add",
            .name = "Add what is shown to the talk",
            .shortcut = {Key::a, kCtrlShift},
            .everywhere = true,
            .whileTyping = true,
            .words = "slide view presentation insert"},
           [this](Scene& shown) { addShown(shown); });
  here("talk.next", "Next view", {Key::pageDown, {}}, Move::next, "slide");
  here("talk.back", "Previous view", {Key::pageUp, {}}, Move::back, "slide");
  here("talk.space", "Next view, if the page doesn't use Space", {Key::space, {}}, Move::next);
  list.all.back().afterStage = true;
  here("talk.first", "First view", {Key::home, {}}, Move::first, "slide");
  here("talk.last", "Last view", {Key::end, {}}, Move::last, "slide");
  here("talk.earlier", "Move the view towards the beginning", {Key::pageUp, kCtrl}, Move::earlier,
       "order sort");
  here("talk.later", "Move the view towards the end", {Key::pageDown, kCtrl}, Move::later, "order sort");
  here("talk.duplicate", "Duplicate the view", {static_cast<Key>('D'), kCtrl}, Move::duplicate, "copy slide");
  here("talk.remove", "Delete the view", {Key::del, {}}, Move::remove, "slide");
  list.add({.id = "talk.present",
            .name = "Present the talk from its first view",
            .section = "Present",
            .shortcut = {Key::p, {.shift = true}},
            .everywhere = true,
            .words = "start slides beginning lecture"},
           [this](Scene&) { present(); });
  list.add({.id = "talk.keep",
            .name = "Keep your changes in this view",
            .shortcut = {Key::k, kCtrlShift},
            .whileTyping = true,
            .words = "update slide save"},
           moves(Move::keep));
  here("talk.restore", "Revert the view to its saved state", {}, Move::restore, "reset slide");
  list.add(
      {.id = "talk.rename", .name = "Rename the view", .shortcut = {Key::enter}, .words = "title name slide"},
      [this](Scene&) { page_.focusName = true; });
  list.add({.id = "talk.close",
            .name = "Close the talk and keep its scene",
            .whileTyping = true,
            .words = "end new"},
           [this](Scene&) {
             Document& own = *services_.own();
             if (own.scene().talk->views.empty()) return services_.view.say("No talk is open.");
             own.closeTalk();
             services_.view.say("The talk is closed. Undo opens it again.");
           });
  for (const ReadyTalk& talk : kReadyTalks)
    for (const bool presented : {false, true})
      list.add({.id = std::string(presented ? "talk.give." : "talk.ready.") + talk.id,
                .name = std::string(presented ? "Present: " : "Talk: ") + talk.title,
                .whileTyping = true,
                .words = "finished example lecture slides presentation open"},
               [this, &talk, presented](Scene&) { openReady(talk, presented); });
  return std::move(list.all);
}

}  // namespace headscope::app::talk_page
