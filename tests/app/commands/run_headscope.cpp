#include "tests/app/commands/run_headscope.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "test_paths.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {

namespace {

#ifdef HEADSCOPE_SANITIZE_BUILD
// Memory that libraries keep until the process ends would be reported into the very stream that is compared.
constexpr const char* kQuiet = "export ASAN_OPTIONS=detect_leaks=0; ";
#else
constexpr const char* kQuiet = "";
#endif

Outcome run(const std::string& program, const std::vector<std::string>& arguments, const std::string& before,
            const std::string& after) {
  const TemporaryFolder folder;
  const auto errors = folder / "errors";
  std::string line = before + kQuiet + "env -u DISPLAY -u WAYLAND_DISPLAY timeout 60 '" + program + "'";
  for (const std::string& argument : arguments) line += " '" + argument + "'";
  line += " " + after + " 2>'" + errors.string() + "'";
  Outcome outcome;
  FILE* pipe = ::popen(line.c_str(), "r");
  if (!pipe) return outcome;
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.output.append(buffer, got);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) outcome.exitCode = WEXITSTATUS(status);
  outcome.errors = fileText(errors);
  return outcome;
}

}  // namespace

Outcome runHeadscope(const std::vector<std::string>& arguments, const std::string& before,
                     const std::string& after) {
  return run(HEADSCOPE_BINARY, arguments, before, after);
}

Outcome runMeasure(const std::vector<std::string>& arguments, const std::string& before,
                   const std::string& after) {
  return run(HEADSCOPE_MEASURE, arguments, before, after);
}

Outcome runHeadscopeOnTerminal(const std::vector<std::string>& arguments, const std::string& before) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return {};
  const std::string name = ::ptsname(terminal);
  // Stays open, so that nothing is lost when the program closes its end.
  const int kept = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  // Read while the program runs: a terminal holds a few kilobytes, and a program that prints more waits.
  std::string shown;
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    for (bool last = false; !last;) {
      last = ended;
      pollfd ready{terminal, POLLIN, 0};
      ::poll(&ready, 1, last ? 0 : 20);
      char buffer[4096];
      for (ssize_t got; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
        shown.append(buffer, static_cast<std::size_t>(got));
    }
  });
  Outcome outcome = runHeadscope(arguments, before, ">'" + name + "'");
  ended = true;
  reader.join();
  outcome.output = shown;
  ::close(kept);
  ::close(terminal);
  return outcome;
}

}  // namespace headscope::test
