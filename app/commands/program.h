#pragma once

#include <string>
#include <vector>

#include "app/commands/command_line.h"

namespace headscope::app {

/// Runs the given command line, which may also name one of `more`; without a command, opens the window.
/// Returns the exit code: 0 = done, 1 = failed, 2 = wrong usage, 3 = a model that doesn't fit its device
/// (cost).
int runProgram(int argc, const char* const* argv, const std::string& version,
               const std::vector<Command>& more = {});

}  // namespace headscope::app
