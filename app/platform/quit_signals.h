#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace headscope::app {

/// A scope in which Ctrl+C, a hang-up and a termination request call `asked` with the signal number on a
/// separate thread, instead of ending the program. A signal that the program was started to ignore, such as
/// by nohup, stays ignored. SIGUSR2 has no effect, and SIGPIPE none but a failed write: a window goes on when
/// nobody reads its messages any more. Create it before other threads, which inherit the blocked signals.
class QuitSignals {
 public:
  explicit QuitSignals(std::function<void(int signal)> asked);
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;

 private:
  sigset_t before_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace headscope::app
