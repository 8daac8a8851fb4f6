#include "app/platform/quit_signals.h"

#include <pthread.h>

namespace headscope::app {

QuitSignals::QuitSignals(std::function<void()> asked) {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&watched, signal);
  pthread_sigmask(SIG_BLOCK, &watched, &before_);
  thread_ = std::thread([asked = std::move(asked), watched] {
    int signal = 0;
    // SIGUSR2 is our own: the end.
    while (sigwait(&watched, &signal) == 0 && signal != SIGUSR2) asked();
  });
}

QuitSignals::~QuitSignals() {
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace headscope::app
