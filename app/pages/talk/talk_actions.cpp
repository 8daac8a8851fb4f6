// Page's actions.

#include <fmt/core.h>

#include "app/pages/talk/talk_page.h"

namespace headscope::app::talk_page {

namespace {

/// A view's default name: "Heads, head 3".
std::string nameOf(const Scene& shown) {
  std::string name = shown.cursor.page;
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return shown.cursor.focus < 0 ? name : fmt::format("{}, head {}", name, shown.cursor.focus);
}

/// Returns the scene with the highlighted cell selected, so that it stays highlighted in the view.
Scene asLit(Scene shown, const Crosshair& lit) {
  Cell& cell = shown.cursor.cell;
  if (lit.query >= 0) cell.query = lit.query;
  if (lit.key >= 0) cell.key = lit.key;
  if (lit.head >= 0 && shown.cursor.focus < 0) cell.head = lit.head;
  return shown;
}

}  // namespace

/// Adds a view of `shown` after the current view if the talk is visible, else at the end.
void Page::addShown(const Scene& shown) {
  View& view = services_.view;
  Document& own = *services_.own();
  own.record();
  const bool here = own.scene().cursor.page == "talk";
  const int after = here ? page_.at : static_cast<int>(own.scene().talk->views.size()) - 1;
  const int at = addView(own.scene(), {nameOf(shown), "", viewScene(asLit(shown, view.hover))}, after);
  own.record();
  if (at < 0) return view.messages.fail(fmt::format("A talk has at most {} views.", kMaxTalkViews));
  own.scene().cursor.view = at;
  view.tell(fmt::format("Added as view {} of the talk.", at + 1), view.pressedAt);
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
  const auto moves = [this](Move move) { return [this, move](Scene&) { page_.move = move; }; };
  constexpr Mods kCtrl{.ctrl = true}, kCtrlShift{.ctrl = true, .shift = true};
  const auto here = [&](const char* id, const char* name, KeyPress key, Move move, const char* words = "") {
    return Action{
        .id = id, .name = name, .shortcut = key, .repeats = true, .words = words, .run = moves(move)};
  };
  std::vector<Action> actions{
      {.id = "talk.add",
       .name = "Add what is shown to the talk",
       .shortcut = {Key::a, kCtrlShift},
       .everywhere = true,
       .whileTyping = true,
       .words = "slide view presentation insert",
       .run = [this](Scene& shown) { addShown(shown); }},
      here("talk.next", "Next view", {Key::pageDown, {}}, Move::next, "slide"),
      here("talk.back", "Previous view", {Key::pageUp, {}}, Move::back, "slide"),
      here("talk.space", "Next view, if the page doesn't use Space", {Key::space, {}}, Move::next),
      here("talk.first", "First view", {Key::home, {}}, Move::first, "slide"),
      here("talk.last", "Last view", {Key::end, {}}, Move::last, "slide"),
      here("talk.earlier", "Move the view towards the beginning", {Key::pageUp, kCtrl}, Move::earlier,
           "order sort"),
      here("talk.later", "Move the view towards the end", {Key::pageDown, kCtrl}, Move::later, "order sort"),
      here("talk.duplicate", "Duplicate the view", {static_cast<Key>('D'), kCtrl}, Move::duplicate,
           "copy slide"),
      here("talk.remove", "Delete the view", {Key::del, {}}, Move::remove, "slide"),
      {.id = "talk.present",
       .name = "Present the talk from its first view",
       .section = "Present",
       .shortcut = {Key::p, {.shift = true}},
       .everywhere = true,
       .words = "start slides beginning lecture",
       .run = [this](Scene&) { present(); }},
      {.id = "talk.keep",
       .name = "Keep your changes in this view",
       .shortcut = {Key::k, kCtrlShift},
       .whileTyping = true,
       .words = "update slide save",
       .run = moves(Move::keep)},
      here("talk.restore", "Put the view back as it was", {}, Move::restore, "reset slide"),
      {.id = "talk.rename",
       .name = "Rename the view",
       .shortcut = {Key::enter},
       .words = "title name slide",
       .run = [this](Scene&) { page_.focusName = true; }},
      {.id = "talk.close",
       .name = "Close the talk and keep its scene",
       .whileTyping = true,
       .words = "end new",
       .run = [this](Scene&) {
         Document& own = *services_.own();
         if (own.scene().talk->views.empty()) return services_.view.say("No talk is open.");
         own.closeTalk();
         services_.view.say("The talk is closed. Undo opens it again.");
       }}};
  for (Action& action : actions)
    if (action.id == "talk.space") action.afterStage = true;
  return actions;
}

}  // namespace headscope::app::talk_page
