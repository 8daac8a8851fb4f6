// The part of Session with the edit and view actions.

#include <algorithm>
#include <utility>

#include "app/session.h"
#include "app/shell/history_list.h"

namespace headscope::app {

namespace {
constexpr Mods kCtrl{.ctrl = true};
constexpr Mods kCtrlShift{.ctrl = true, .shift = true};
}  // namespace

void Session::stepHead(Index by) {
  Cursor& cursor = scene().cursor;
  const Index heads = workspace_.activePage().heads(scene());
  // While presenting, walks from head to head with each one enlarged.
  const bool enters = services_.view.present && cursor.focus < 0 && cursor.page == "heads";
  cursor.cell.head = enters ? cursor.cell.head : (cursor.cell.head + by + heads) % heads;
  if (enters || cursor.focus >= 0) cursor.focus = cursor.cell.head;
}

std::vector<Action> Session::editActions() {
  return {
      {.id = "edit.undo",
       .name = "Undo",
       .shortcut = {Key::z, kCtrl},
       .whileTyping = true,
       .repeats = true,
       .words = "revert",
       .run =
           [this](Scene&) {
             services_.view.controls = {};
             workspace_.undoTarget(false).undo();
           }},
      {.id = "edit.redo",
       .name = "Redo",
       .shortcut = {Key::z, kCtrlShift},
       .whileTyping = true,
       .repeats = true,
       .run =
           [this](Scene&) {
             services_.view.controls = {};
             workspace_.undoTarget(true).redo();
           }},
      {.id = "edit.history",
       .name = "History: go to an earlier or later step…",
       .shortcut = {static_cast<Key>('H'), kCtrl},
       .whileTyping = true,
       .words = "undo list steps revert back",
       .run =
           [this](Scene&) { services_.view.dialog = std::make_shared<HistoryList>(workspace_.undoable()); }},
      {.id = "edit.stop",
       .name = "Stop computing and keep what is shown",
       .whileTyping = true,
       .run =
           [this](Scene& scene) {
             if (const auto wish = std::exchange(services_.view.figureWanted, {}))
               return services_.view.say("Stopped; " + wish->name + " was not written.");
             // The setting that takes too long stays in the history, one undo away.
             if (!snapshot()) return;
             workspace_.working()->record();
             scene.setup = snapshot()->setup;
           }},
  };
}

std::vector<Action> Session::windowActions() {
  View& view = services_.view;
  std::vector<Action> actions{
      {.id = "look.back",
       .name = "Go back to all heads",
       .shortcut = {Key::escape},
       .words = "zoom out reset",
       .run =
           [&view](Scene& scene) {
             if (view.present && scene.cursor.focus < 0) view.present = false;
             if (scene.cursor.focus < 0) view.drawer = false;
             scene.cursor.focus = -1;
           }},
      {.id = "look.next_head",
       .name = "Next head",
       .shortcut = {Key::pageDown},
       .run = [this](Scene&) { stepHead(1); }},
      {.id = "look.previous_head",
       .name = "Previous head",
       .shortcut = {Key::pageUp},
       .run = [this](Scene&) { stepHead(-1); }},
      {.id = "look.present",
       .name = "Present: large type, no panels",
       .shortcut = {Key::p},
       .words = "zoom presentation slides lecture mode",
       .run = [&view](Scene&) { view.present = !view.present; }},
      {.id = "look.full_screen",
       .name = "Full screen",
       .shortcut = {Key::f11},
       .whileTyping = true,
       .words = "maximize window",
       .run = [&view](Scene&) { view.fullScreen = !view.fullScreen; }},
      {.id = "look.side",
       .name = "Show or hide the receipt",
       .shortcut = {Key::r},
       .run = [&view](Scene&) { view.drawer = !view.drawer; }},
  };
  for (const PageRow& row : pages().rows())
    actions.push_back({.id = "page." + std::string(row.info.key),
                       .name = std::string(row.info.goTo),
                       .section = "Pages",
                       .shortcut = row.info.shortcut,
                       .run = [this, key = row.info.key](Scene&) { own().scene().cursor.page = key; }});
  return actions;
}

}  // namespace headscope::app
