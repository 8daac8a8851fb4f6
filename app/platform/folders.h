#pragma once

#include <filesystem>

namespace headscope::app {

/// Returns the running executable's path, by which it can be started again.
std::filesystem::path thisProgram();
/// Returns the folder that the running executable is in; empty if it isn't known.
std::filesystem::path programFolder();

/// Returns the user's own folder; empty if it isn't known.
std::filesystem::path homeFolder();
}  // namespace headscope::app
