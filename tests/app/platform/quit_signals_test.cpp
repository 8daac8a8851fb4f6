#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "app/platform/process.h"

namespace headscope::app {
namespace {

/// Runs in its own process, since signals go to all of it. Returns its exit code; −1 if a signal ended
/// it.
template <typename Run>
int exitCodeOf(Run run) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::_exit(run());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(QuitSignals, OtherSignalsNeitherEndTheProgramNorTheWatch) {
  EXPECT_EQ(exitCodeOf([] {
              std::atomic<int> asked = 0, last = 0;
              const QuitSignals signals([&](int signal) {
                last = signal;
                ++asked;
              });
              for (const int harmless : {SIGUSR2, SIGPIPE, SIGUSR2}) ::kill(::getpid(), harmless);
              ::kill(::getpid(), SIGTERM);
              while (asked == 0) std::this_thread::yield();
              ::kill(::getpid(), SIGUSR2);
              ::kill(::getpid(), SIGINT);
              while (asked == 1) std::this_thread::yield();
              return last == SIGINT ? 7 : 1;
            }),
            7);
}

TEST(QuitSignals, WriteToClosedPipeFails) {
  EXPECT_EQ(exitCodeOf([] {
              const QuitSignals signals([](int) {});
              int ends[2];
              if (::pipe(ends) != 0) return 1;
              ::close(ends[0]);
              return ::write(ends[1], "a", 1) < 0 && errno == EPIPE ? 7 : 2;
            }),
            7);
}

}  // namespace
}  // namespace headscope::app
