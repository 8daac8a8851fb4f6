#pragma once

#include <string>
#include <vector>

namespace headscope::test {

struct Outcome {
  int exitCode = -1;  ///< −1 where the program did not end by itself
  std::string output, errors;
};

/// Runs the real program without a display, after the shell's `before` ("ulimit -f 1; "). Each argument is
/// quoted for the shell. A minute is enough for everything here.
Outcome runHeadscope(const std::vector<std::string>& arguments, const std::string& before = "",
                     const std::string& after = "");

/// The same with a terminal as its standard output; `output` is what came there.
Outcome runHeadscopeOnTerminal(const std::vector<std::string>& arguments, const std::string& before = "");

}  // namespace headscope::test
