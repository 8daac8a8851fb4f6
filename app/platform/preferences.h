#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::app {

/// What the person prefers everywhere, whatever the scene.
struct Preferences {
  bool light = false;
  float textSize = 1;  ///< 0.75 to 2
  bool reducedMotion = false;
  bool lessonOffered = false;  ///< the first lesson was offered, and begun or declined
  bool operator==(const Preferences&) const = default;
};

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
