#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "app/platform/input_queue.h"
#include "attention/core/result.h"

namespace headscope::app {

/// Where the last window left off, which the next one begins with. What isn't known is empty or 0.
struct LastWindow {
  int width = 0, height = 0;  ///< screen units
  std::string page, colormap;
  bool panel = false;  ///< a narrow window's panel at the right was open
  bool operator==(const LastWindow&) const = default;
};

/// What the person prefers everywhere, whatever the scene. The settings among it are rows of
/// preferenceRows().
struct Preferences {
  bool light = false;
  std::uint8_t numbers = 0;  ///< how they are written: 0 as the system, then its choices
  float textSize = 1;        ///< 0.8 to 2.5
  bool highContrast = false;
  bool reducedMotion = false;
  bool captions = true;        ///< while presenting, a sentence says what is seen
  bool pressedKeys = true;     ///< while presenting, what a key did is shown
  bool lessonOffered = false;  ///< the first lesson was offered, and begun or declined
  LastWindow last;
  bool operator==(const Preferences&) const = default;
};

/// On or off.
struct SwitchSetting {
  bool Preferences::*value;
};
/// One of two, each with a name.
struct ChoiceSetting {
  bool Preferences::*value;
  const char *off, *on;
};
/// A factor, shown in percent, that goes from step to step.
struct FactorSetting {
  float Preferences::*value;
  std::span<const float> steps;
};
/// One of several, each with its name in the file and on screen.
struct ListSetting {
  std::uint8_t Preferences::*value;
  struct Choice {
    const char *key, *label;
  };
  std::span<const Choice> choices;
};
using SettingKind = std::variant<SwitchSetting, ChoiceSetting, FactorSetting, ListSetting>;

/// One setting. The file, the settings dialog, the actions and the manual's table walk the rows.
struct PreferenceRow {
  const char *key, *action;  ///< in the file, and the id of the action that changes it: "appearance.theme"
  const char *label, *help;  ///< one sentence
  const char *name, *words;  ///< of the action, and what else people call it
  KeyPress shortcut;
  SettingKind kind;
};
std::span<const PreferenceRow> preferenceRows();
/// The step after or before the value; the same where there is none.
float nextStep(const FactorSetting& setting, float value, int by);
/// The manual's table of the settings, in Markdown.
std::string preferencesMarkdown();

/// Never fails: what can't be read keeps its default.
Preferences parsePreferences(std::string_view json);
std::string formatPreferences(const Preferences& preferences);

/// $XDG_CONFIG_HOME/headscope/preferences.json; empty where no folder for settings is known.
std::filesystem::path preferencesPath();
/// What is there; defaults where it can't be read.
Preferences loadPreferences();
/// Makes the folder where there is none.
attention::Status writePreferences(const std::filesystem::path& path, const Preferences& preferences);

}  // namespace headscope::app
