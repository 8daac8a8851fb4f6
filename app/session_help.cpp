// The part of Session with the settings and help actions.

#include <algorithm>

#include "app/session.h"
#include "app/shell/dialogs.h"
#include "app/shell/manual_reader.h"
#include "app/shell/settings_dialog.h"

namespace headscope::app {

namespace {
constexpr Mods kWithCtrl{.ctrl = true};
}  // namespace

/// Opens the manual at the chapter of `page`. The files are read in the background.
void Session::openManual(const std::string& page) {
  View& view = services_.view;
  services_.files.read<std::vector<Chapter>>(
      "manual", [] { return readManual(); },
      [&view, page](attention::Result<std::vector<Chapter>> manual) {
        if (!manual) return view.messages.fail(manual.error().message);
        view.dialog = std::make_shared<ManualReader>(*std::move(manual), page);
      });
}

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
    add(row, id + ".larger", name + " larger", {Key::equal, kWithCtrl}, "bigger zoom in", step(1));
    add(row, id + ".smaller", name + " smaller", {Key::minus, kWithCtrl}, "zoom out", step(-1));
    add(row, id + ".normal", "Reset text size", {Key::d0, kWithCtrl}, "reset", step(0));
  }
  actions.push_back(
      {.id = "settings",
       .name = "Settings…",
       .shortcut = {Key::comma, kWithCtrl},
       .whileTyping = true,
       .words = "preferences options configure accessibility",
       .run = [this](Scene&) { services_.view.dialog = std::make_shared<SettingsDialog>(actions_); }});
  return actions;
}

std::vector<Action> Session::helpActions() {
  return {
      {.id = "palette",
       .name = "Show all actions…",
       .shortcut = {Key::k, kWithCtrl},
       .whileTyping = true,
       .words = "commands search",
       .run = [this](Scene&) { services_.view.dialog = std::make_shared<Palette>(actions_); }},
      {.id = "manual",
       .name = "Open the manual",
       .shortcut = {Key::f1},
       .whileTyping = true,
       .words = "help documentation glossary",
       .run = [this](Scene&) { openManual(own().scene().cursor.page); }},
      {.id = "shortcuts",
       .name = "Show keyboard and mouse help",
       .shortcut = {Key::f1, {.shift = true}},
       .whileTyping = true,
       .words = "help keys hotkeys settings",
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

}  // namespace headscope::app
