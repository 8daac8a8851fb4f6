#pragma once

namespace headscope::app {

/// What the person prefers everywhere, whatever the scene.
struct Preferences {
  bool light = false;
  float textSize = 1;  ///< 0.75 to 2
  bool reducedMotion = false;
  bool lessonOffered = false;  ///< the first lesson was offered, and begun or declined
  bool operator==(const Preferences&) const = default;
};

/// $XDG_CONFIG_HOME/headscope/preferences.json; defaults where it can't be read.
Preferences loadPreferences();
void savePreferences(const Preferences& preferences);

}  // namespace headscope::app
