#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace headscope::app {

/// While it lives, Ctrl+C, a hang-up and a request to end call `asked`, on a thread of its own, instead of
/// ending the program. To be made before other threads are, which inherit that they leave the signals alone.
class QuitSignals {
 public:
  explicit QuitSignals(std::function<void()> asked);
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;

 private:
  sigset_t before_;
  std::thread thread_;
};

}  // namespace headscope::app
