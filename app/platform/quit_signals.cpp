#include "app/platform/quit_signals.h"

#include <pthread.h>

namespace headscope::app {

QuitSignals::QuitSignals(std::function<void(int)> asked) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGUSR2);  // wakes the thread when it is to end; anyone may send it
  std::signal(SIGPIPE, SIG_IGN);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // If blocked, an ignored signal would stay pending and be delivered after all.
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_IGN)
      sigaddset(&watched, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched, &before_);
  thread_ = std::thread([this, asked = std::move(asked), watched] {
    for (int signal = 0; sigwait(&watched, &signal) == 0 && !over_;)
      if (signal != SIGUSR2) asked(signal);
  });
}

QuitSignals::~QuitSignals() {
  over_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace headscope::app
