#include "app/platform/process.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace headscope::app {

/// So that no file or pipe takes the place of a closed stream and gets the program's messages. They can't be
/// used, as before: reading the input fails, and so does writing to the others.
void openStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void requireAddressSpace(double pictureBytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  // Otherwise each thread reserves an arena as large as it can get, and the total need becomes unpredictable.
  mallopt(M_ARENA_MAX, 1);
  constexpr double kMebibyte = 1 << 20;
  // For OpenGL's compiler and textures, and the stacks of its threads and ours.
  const double threads = 3 * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double needed = (608 + 8 * threads) * kMebibyte + pictureBytes;
  const auto size = static_cast<std::size_t>(needed);
  void* const room = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw std::runtime_error(
        fmt::format("drawing needs about {:.0f} MB of address space, more than its limit (ulimit -v) leaves",
                    needed / kMebibyte + 110));
  munmap(room, size);
}

namespace {

using Ended = std::weak_ptr<std::function<void()>>;

void callEnded(int, void* argument) {
  const std::unique_ptr<Ended> ended(static_cast<Ended*>(argument));
  if (const auto call = ended->lock()) (*call)();
}

}  // namespace

ExitWatch::ExitWatch(std::function<void()> ended)
    : ended_(std::make_shared<std::function<void()>>(std::move(ended))) {
  auto weak = std::make_unique<Ended>(ended_);
  if (::on_exit(callEnded, weak.get()) == 0) (void)weak.release();
}

ExitWatch::~ExitWatch() = default;

struct QuitSignals::State {
  sigset_t before{};
  std::atomic<bool> over = false;
  std::thread thread;
};

QuitSignals::QuitSignals(std::function<void(int)> asked) : state_(std::make_unique<State>()) {
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
  pthread_sigmask(SIG_BLOCK, &watched, &state_->before);
  state_->thread = std::thread([state = state_.get(), asked = std::move(asked), watched] {
    for (int signal = 0; sigwait(&watched, &signal) == 0 && !state->over;)
      if (signal != SIGUSR2) asked(signal);
  });
}

QuitSignals::~QuitSignals() {
  state_->over = true;
  pthread_kill(state_->thread.native_handle(), SIGUSR2);
  state_->thread.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

}  // namespace headscope::app
