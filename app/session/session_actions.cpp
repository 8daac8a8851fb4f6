#include "app/session/session.h"

namespace headscope::app {

// The part of Session with the edit and view actions.

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
             // One thing at a time, from what is in front.
             if (scene.cursor.wordCard && scene.cursor.page == "heads")
               scene.cursor.wordCard = false;
             else if (scene.cursor.focus >= 0)
               scene.cursor.focus = -1;
             else if (view.present && scene.cursor.wiring && scene.cursor.page == "heads")
               scene.cursor.wiring = false;
             else if (view.present)
               view.present = false;
             else
               view.drawer = false;
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
                       .words = std::string(row.info.name) + ", " + std::string(row.info.words),
                       .run = [this, &info = row.info](Scene&) {
                         Scene& scene = own().scene();
                         if (std::exchange(scene.cursor.page, info.key) == info.key && info.again)
                           info.again(scene);
                       }});
  return actions;
}

// The part of Session with the settings and help actions.

namespace {
constexpr Mods kWithCtrl{.ctrl = true};
}  // namespace

/// All settings as actions. A factor gets three: larger, smaller and back to 1.
std::vector<Action> Session::settingActions() {
  Preferences& preferences = services_.view.preferences;
  std::vector<Action> actions;
  const auto add = [&](const PreferenceRow& row, std::string id, std::string name, KeyPress shortcut,
                       std::string words, std::function<void(Scene&)> run) {
    actions.push_back({.id = std::move(id),
                       .name = std::move(name),
                       .shortcut = shortcut,
                       .whileTyping = true,
                       .words = words + " " + row.words,
                       .run = std::move(run)});
  };
  for (const PreferenceRow& row : preferenceRows()) {
    const auto flip = [&preferences](bool Preferences::*value) {
      return [&preferences, value](Scene&) { preferences.*value = !(preferences.*value); };
    };
    if (const auto* on = std::get_if<SwitchSetting>(&row.kind))
      add(row, row.action, row.name, row.shortcut, "", flip(on->value));
    if (const auto* choice = std::get_if<ChoiceSetting>(&row.kind))
      add(row, row.action, row.name, row.shortcut, "", flip(choice->value));
    if (const auto* list = std::get_if<ListSetting>(&row.kind))
      for (std::size_t i = 0; i < list->choices.size(); ++i)
        add(row, row.action + std::string(".") + list->choices[i].key,
            row.name + std::string(": ") + list->choices[i].label, {}, "",
            [&preferences, list, i](Scene&) { preferences.*list->value = static_cast<std::uint8_t>(i); });
    const auto* factor = std::get_if<FactorSetting>(&row.kind);
    if (!factor) continue;
    const auto step = [&preferences, factor](int by) {
      return [&preferences, factor, by](Scene&) {
        float& value = preferences.*factor->value;
        value = by == 0 ? 1 : nextStep(*factor, value, by);
      };
    };
    const std::string id = row.action, name = row.name;
    add(row, id + ".larger", name + " larger", {Key::equal, kWithCtrl},
        "bigger text, larger type, bigger font, zoom in,", step(1));
    add(row, id + ".smaller", name + " smaller", {Key::minus, kWithCtrl}, "smaller font, zoom out,",
        step(-1));
    add(row, id + ".normal", "Reset text size", {Key::d0, kWithCtrl}, "reset,", step(0));
  }
  actions.push_back({.id = "settings",
                     .name = "Settings…",
                     .shortcut = {Key::comma, kWithCtrl},
                     .whileTyping = true,
                     .words = "preferences options configure accessibility",
                     .run = [this](Scene&) { services_.view.dialog = std::make_shared<SettingsDialog>(); }});
  actions.push_back(
      {.id = "settings.vision",
       .name = "Check the colours for colour vision…",
       .whileTyping = true,
       .words = "colour blind, colour blindness, accessible colours, contrast colormap",
       .run = [this](Scene&) { services_.view.dialog = std::make_shared<SettingsDialog>("colour vision"); }});
  return actions;
}

std::vector<Action> Session::helpActions() {
  return {
      {.id = "menu",
       .name = "Open the menu",
       .shortcut = {Key::f10},
       .whileTyping = true,
       .words = "file edit view export help, all commands",
       .run = [this](Scene&) { openMenu(); }},
      {.id = "palette",
       .name = "Search…",
       .shortcut = {Key::k, kWithCtrl},
       .whileTyping = true,
       .words = "commands palette, find, all actions",
       .run = [this](Scene&) { openSearch(); }},
      {.id = "manual",
       .name = "Open the manual",
       .shortcut = {Key::f1},
       .whileTyping = true,
       .words = "help, documentation, glossary",
       .run = [this](Scene&) { openManual(own().scene().cursor.page); }},
      {.id = "shortcuts",
       .name = "Show keyboard and mouse help",
       .shortcut = {Key::f1, {.shift = true}},
       .whileTyping = true,
       .words = "keyboard shortcuts, hotkeys, help keys settings",
       .run =
           [this](Scene&) {
             std::vector<std::string> pages{own().scene().cursor.page};
             if (workspace_.onStage()) pages.push_back(scene().cursor.page);
             services_.view.dialog = std::make_shared<ShortcutSheet>(actions_, std::move(pages));
           }},
      {.id = "quit",
       .name = "Quit",
       .shortcut = {static_cast<Key>('Q'), kWithCtrl},
       .whileTyping = true,
       .words = "exit close",
       .run = [this](Scene&) { closing_.request(); }},
  };
}

// The part of Session that routes keys: to the control with the keyboard focus, then to the page's actions,
// then to the window's.

void Session::handleInput(const FrameInput& input) {
  View& view = services_.view;
  for (const InputEvent& event : input.events) {
    if (event.kind == InputEvent::Kind::mouseMove || event.kind == InputEvent::Kind::mouseButton ||
        event.kind == InputEvent::Kind::wheel)
      presentation_.state().movedAt = view.time;
    const bool edge = event.kind == InputEvent::Kind::key || event.kind == InputEvent::Kind::mouseButton;
    // Any key lights a dark screen; the one that darkened it does nothing else.
    const bool lights = edge && event.down && !event.repeat && presentation_.light();
    if (edge && event.down) {
      view.pressedAt = ImGui::GetIO().MousePos;
      view.told.text.clear();
    }
    if (event.kind == InputEvent::Kind::drop && !event.paths.empty())
      files_.open(event.paths.front(), Outcome(view));
    if (event.kind != InputEvent::Kind::key || !event.down) continue;
    if (takenByControl(event)) {
      view.controls.keyTakenFrame = ImGui::GetFrameCount();
      view.redraw();
      continue;
    }
    const bool listOpen =
        ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
    if (listOpen && event.key == Key::escape) continue;  // closes only the list, also in a dialog
    if (view.dialog) {
      if (event.key == Key::escape) view.dialog.reset();
      continue;
    }
    if (event.key == Key::escape && (lights || presentation_.state().frozen)) {
      presentation_.state().frozen = false;
      continue;
    }
    if (view.takenBySlider(event.key)) continue;
    const bool typing = ImGui::GetIO().WantTextInput;
    const Action* const action = actionFor(event, typing);
    if (lights && action && action->id == "stage.blank") continue;
    if (action && (view.present || !isStageKey(*action))) {
      presentation_.note(*action);
      view.request(action->id);
    }
  }
}

/// The shown page's own keys take precedence, then those of the page on its stage, then the window's.
const Action* Session::actionFor(const InputEvent& event, bool typing) const {
  const KeyPress press{event.key, event.mods};
  // Clickers send a period to darken the screen; on the Model page a period generates.
  const bool clicker = services_.view.present && press == KeyPress{Key::period, {}} && !typing;
  if (clicker && !event.repeat && scene().cursor.page != "model") return &actions_.find("stage.blank");
  const std::string& page = own().scene().cursor.page;
  const Action* own = actions_.pressed(press, page, typing, event.repeat);
  if (!workspace_.onStage() || (own && own->page == page && !own->afterStage)) return own;
  const std::string& staged = scene().cursor.page;
  const Action* const theirs = actions_.pressed(press, staged, typing, event.repeat);
  return own && own->page == page && !(theirs && theirs->page == staged) ? own : theirs;
}

/// Tab moves the keyboard focus to the next control. Keys used by the focused control trigger no action.
bool Session::takenByControl(const InputEvent& event) {
  KeyboardFocus& focus = uiState().focus;
  const bool typing = ImGui::GetIO().WantTextInput;
  if (event.key == Key::tab && !event.mods.ctrl && !event.mods.alt) {
    if (typing) ImGui::ClearActiveID();
    focus.step(event.mods.shift ? -1 : 1);
    return true;
  }
  const TabStop* const control = focus.control();
  if (!control || typing || event.mods.ctrl || event.mods.alt) return false;
  switch (event.key) {
    case Key::enter:
    case Key::space:
      if (control->kind != TabStopKind::slider) focus.press(event.mods.shift ? 1 : 0);
      return true;
    case Key::left:
      return focus.move(-1, 0);
    case Key::right:
      return focus.move(1, 0);
    case Key::up:
      return focus.move(0, -1);
    case Key::down:
      return focus.move(0, 1);
    case Key::escape:
      if (services_.view.dialog ||
          ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
        return false;
      focus.release();
      return true;
    default:
      return false;
  }
}

}  // namespace headscope::app
