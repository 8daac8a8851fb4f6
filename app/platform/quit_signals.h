#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace headscope::app {

/// While it lives, Ctrl+C, a hang-up and a request to end call `asked` with their number, on a thread of its
/// own, instead of ending the program. A signal that the program was started to ignore, as by nohup, stays
/// ignored. To be made before other threads are, which inherit that they leave the signals alone.
class QuitSignals {
 public:
  explicit QuitSignals(std::function<void(int signal)> asked);
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;

 private:
  sigset_t before_;
  std::thread thread_;
};

}  // namespace headscope::app
