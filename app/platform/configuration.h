#pragma once

#include <filesystem>

namespace headscope::app {

/// Where this person's settings are kept: $XDG_CONFIG_HOME/headscope or ~/.config/headscope; empty where
/// neither is known.
std::filesystem::path configurationFolder();

}  // namespace headscope::app
