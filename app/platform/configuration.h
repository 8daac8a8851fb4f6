#pragma once

#include <filesystem>

namespace headscope::app {

/// Where this person's settings are kept: $XDG_CONFIG_HOME/headscope or ~/.config/headscope; empty where
/// neither is known.
std::filesystem::path configurationFolder();

/// Where what this person did is kept from one start to the next: $XDG_STATE_HOME/headscope or
/// ~/.local/state/headscope; empty where neither is known.
std::filesystem::path stateFolder();

}  // namespace headscope::app
