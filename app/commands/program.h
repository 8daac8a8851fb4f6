#pragma once

#include <string>

namespace headscope::app {

/// Runs the given command line; without a command, opens the window. Returns the exit code:
/// 0 = done, 1 = failed, 2 = wrong usage, 3 = a model that doesn't fit its device (cost).
int runProgram(int argc, const char* const* argv, const std::string& version);

}  // namespace headscope::app
