// The part of Session that changes how the window looks, and that helps.

#include <algorithm>

#include "app/session.h"
#include "app/shell/manual_reader.h"
#include "app/shell/shell.h"

namespace headscope::app {

namespace {
constexpr Mods kWithCtrl{.ctrl = true};
}  // namespace

/// At the chapter of a page. The files are read where files are read.
void Session::openManual(const std::string& page) {
  View& view = services_.view;
  services_.files.read<std::vector<Chapter>>(
      "manual", [] { return readManual(); },
      [&view, page](attention::Result<std::vector<Chapter>> manual) {
        if (!manual) return view.messages.fail(manual.error().message);
        view.dialog = std::make_shared<ManualReader>(*std::move(manual), page);
      });
}

std::vector<Action> Session::helpActions() {
  View& view = services_.view;
  Preferences& preferences = view.preferences;
  const auto resize = [&preferences](float by) {
    return [&preferences, by](Scene&) {
      preferences.textSize = std::clamp(preferences.textSize + by, 0.75f, 2.0f);
    };
  };
  return {
      {"appearance.theme",
       "Switch between dark and light",
       "Appearance",
       {Key::l, kWithCtrl},
       true,
       false,
       [&preferences](Scene&) { preferences.light = !preferences.light; },
       "",
       "dark mode light mode night theme colours settings preferences options"},
      {"appearance.larger",
       "Make text larger",
       "Appearance",
       {Key::equal, kWithCtrl},
       true,
       false,
       resize(0.125f),
       "",
       "font size bigger zoom in settings preferences options"},
      {"appearance.smaller",
       "Make text smaller",
       "Appearance",
       {Key::minus, kWithCtrl},
       true,
       false,
       resize(-0.125f),
       "",
       "font size zoom out settings preferences options"},
      {"appearance.normal",
       "Reset text size",
       "Appearance",
       {Key::d0, kWithCtrl},
       true,
       false,
       [&preferences](Scene&) { preferences.textSize = 1; },
       "",
       "font size reset zoom settings preferences options"},
      {"appearance.motion",
       "Reduce motion",
       "Appearance",
       {},
       true,
       false,
       [&preferences](Scene&) { preferences.reducedMotion = !preferences.reducedMotion; },
       "",
       "animation settings preferences options"},
      {"palette",
       "Show all actions…",
       "Help",
       {Key::k, kWithCtrl},
       true,
       false,
       [this](Scene&) { services_.view.dialog = std::make_shared<Palette>(actions_); },
       "",
       "commands search"},
      {"manual",
       "Open the manual",
       "Help",
       {Key::f1, {}},
       true,
       false,
       [this](Scene&) { openManual(document_->scene().cursor.page); },
       "",
       "help documentation glossary"},
      {"shortcuts",
       "Show keyboard and mouse help",
       "Help",
       {Key::f1, {.shift = true}},
       true,
       false,
       [this](Scene&) {
         std::vector<std::string> pages{document_->scene().cursor.page};
         if (onStage()) pages.push_back(scene().cursor.page);
         services_.view.dialog = std::make_shared<ShortcutSheet>(actions_, std::move(pages));
       },
       "",
       "help keys hotkeys settings"},
      {"quit",
       "Quit",
       "Help",
       {static_cast<Key>('Q'), kWithCtrl},
       true,
       false,
       [this](Scene&) { requestQuit(); },
       "",
       "exit close"},
  };
}

}  // namespace headscope::app
