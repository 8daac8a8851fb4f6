#include "app/platform/quit_signals.h"

#include <pthread.h>

namespace headscope::app {

QuitSignals::QuitSignals(std::function<void(int)> asked) {
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGUSR2);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // If blocked, an ignored signal would stay pending and be delivered after all.
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_IGN)
      sigaddset(&watched, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched, &before_);
  thread_ = std::thread([asked = std::move(asked), watched] {
    int signal = 0;
    // SIGUSR2 is ours and ends the thread.
    while (sigwait(&watched, &signal) == 0 && signal != SIGUSR2) asked(signal);
  });
}

QuitSignals::~QuitSignals() {
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace headscope::app
