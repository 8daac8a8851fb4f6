#pragma once

#include <string>

namespace headscope::app {

/// What the command line says, done; the window where it names no command. Returns the exit code: 0 done,
/// 1 could not, 2 wrong usage.
int runProgram(int argc, const char* const* argv, const std::string& version);

}  // namespace headscope::app
