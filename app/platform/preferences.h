#pragma once

#include <filesystem>
#include <string_view>
#include <variant>

#include "app/platform/input_queue.h"
#include "attention/core/result.h"

namespace headscope::app {

/// Returns the user's settings folder: $XDG_CONFIG_HOME/headscope or ~/.config/headscope. Empty if neither is
/// known.
std::filesystem::path configurationFolder();

/// Returns the folder for state that lasts from one start to the next: $XDG_STATE_HOME/headscope or
/// ~/.local/state/headscope. Empty if neither is known.
std::filesystem::path stateFolder();

/// The state in which the last window was closed; the next one starts with it. Unknown values are empty or 0.
struct LastWindow {
  int width = 0, height = 0;  ///< screen units
  std::string page, colormap;
  bool panel = false;  ///< the right-hand panel of a narrow window was open
  bool operator==(const LastWindow&) const = default;
};

/// The user's preferences, independent of the scene. preferenceRows() lists those that are settings.
struct Preferences {
  bool light = false;
  std::uint8_t numbers = 0;  ///< format: 0 = as the system, then its choices
  float textSize = 1;        ///< 0.8 to 2.5
  bool highContrast = false;
  bool reducedMotion = false;
  bool captions = true;        ///< a sentence describes the page while presenting
  bool pressedKeys = true;     ///< shows what a key did while presenting
  bool diagnostics = false;    ///< the status line shows times and memory in place of what the mouse does
  bool lessonOffered = false;  ///< the first lesson was offered, and started or declined
  LastWindow last;
  bool operator==(const Preferences&) const = default;
};

/// On or off.
struct SwitchSetting {
  bool Preferences::*value;
};
/// One of two, each with a label.
struct ChoiceSetting {
  bool Preferences::*value;
  const char *off, *on;
};
/// A factor, shown in percent, that changes in steps.
struct FactorSetting {
  float Preferences::*value;
  std::span<const float> steps;
};
/// One of several, each with its key in the file and its label.
struct ListSetting {
  std::uint8_t Preferences::*value;
  struct Choice {
    const char *key, *label;
  };
  std::span<const Choice> choices;
};
using SettingKind = std::variant<SwitchSetting, ChoiceSetting, FactorSetting, ListSetting>;

/// One setting. The file, the settings dialog, the actions and the manual's table are all made from the rows.
struct PreferenceRow {
  const char *key, *action;  ///< in the file, and the id of its action: "appearance.theme"
  const char *label, *help;  ///< one sentence
  const char *name, *words;  ///< the action's name, and other words that find it
  KeyPress shortcut;
  SettingKind kind;
};
std::span<const PreferenceRow> preferenceRows();
/// Returns the step after or before the value; the last or first step if there is none.
float nextStep(const FactorSetting& setting, float value, int by);
/// Returns the manual's table of settings, in Markdown.
std::string preferencesMarkdown();

/// Never fails: values that can't be read keep their defaults.
Preferences parsePreferences(std::string_view json);
std::string formatPreferences(const Preferences& preferences);

/// Returns $XDG_CONFIG_HOME/headscope/preferences.json; empty if no settings folder is known.
std::filesystem::path preferencesPath();
/// Reads the preferences file; defaults if it can't be read.
Preferences loadPreferences();

enum class RecentKind { scene, talk, model };

/// A scene or talk (a file) or a model (a folder or a file) that the user opened or saved.
struct RecentFile {
  RecentKind kind = RecentKind::scene;
  std::string path;
  bool operator==(const RecentFile&) const = default;
};
/// Returns the kind as users call it: "Talk".
std::string recentWord(RecentKind kind);

/// The number of files kept of each kind.
inline constexpr std::size_t kRecentOfAKind = 5;

/// Returns the files, newest first. Never fails: skips everything that isn't a recent file.
std::vector<RecentFile> parseRecent(std::string_view json);
std::string formatRecent(const std::vector<RecentFile>& files);

/// Reads $XDG_CONFIG_HOME/headscope/recent.json; empty if it can't be read.
std::vector<RecentFile> loadRecent();
/// Returns the paths of one kind.
std::vector<std::string> loadRecent(RecentKind kind);
/// Ignores errors: losing this list is not worth a message.
void saveRecent(const std::vector<RecentFile>& files);
/// Moves the file to the front of the list on disk. Replaces an entry of another kind.
void rememberRecent(const RecentFile& file);
void forgetRecent(const std::string& path);

}  // namespace headscope::app
