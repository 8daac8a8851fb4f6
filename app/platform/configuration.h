#pragma once

#include <filesystem>

namespace headscope::app {

/// Returns the user's settings folder: $XDG_CONFIG_HOME/headscope or ~/.config/headscope. Empty if neither is
/// known.
std::filesystem::path configurationFolder();

/// Returns the folder for state that lasts from one start to the next: $XDG_STATE_HOME/headscope or
/// ~/.local/state/headscope. Empty if neither is known.
std::filesystem::path stateFolder();

}  // namespace headscope::app
