#pragma once

#include <string>
#include <vector>

namespace headscope::test {

struct Outcome {
  int exitCode = -1;  ///< −1 if the program didn't exit by itself
  std::string output, errors;
};

/// Runs the real program without a display, after the shell code `before` ("ulimit -f 1; "). Each argument is
/// quoted for the shell. Allows a minute, which is enough for all tests here.
Outcome runHeadscope(const std::vector<std::string>& arguments, const std::string& before = "",
                     const std::string& after = "");

/// The same for tests/bench's program, which has the command bench too.
Outcome runMeasure(const std::vector<std::string>& arguments, const std::string& before = "",
                   const std::string& after = "");

/// The same with a terminal as standard output; `output` is what the terminal received.
Outcome runHeadscopeOnTerminal(const std::vector<std::string>& arguments, const std::string& before = "");

}  // namespace headscope::test
