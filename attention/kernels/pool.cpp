#include "attention/kernels/pool.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "attention/kernels/system.h"

namespace headscope::attention::kernels {
namespace {

/// How long a thread spins for the next run: longer than the gaps between the phases of one layer.
constexpr std::chrono::microseconds kAwake{50};

/// How often to spin for a worker before assuming that its processor is running something else.
constexpr int kTimeout = 4096;

constexpr int kMostThreads = 64;

// For the tally: the number of shared runs, and each thread's nanoseconds on them.
std::atomic<std::uint64_t> sharedRuns{0};
std::array<std::atomic<std::int64_t>, kMostThreads> busyTimes{};
/// Index among a pool's threads; 0 for calling threads.
thread_local std::size_t placeInPool = 0;

/// Adds its lifetime to the thread's busy time.
class BusyTime {
 public:
  BusyTime() = default;
  ~BusyTime() {
    busyTimes[placeInPool] += std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count();
  }
  BusyTime(const BusyTime&) = delete;
  BusyTime& operator=(const BusyTime&) = delete;

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Tells the processor that this thread is spinning.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

/// One run, on the calling thread's stack. Workers may access it only between joining and leaving.
struct Pool::Job {
  const std::size_t count;
  const std::stop_token& stop;
  const std::function<void(std::size_t)>& task;
  const bool background;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex failing;
  std::exception_ptr failure;

  /// Runs the next task. Returns false if none is left to start.
  bool step() {
    if (stopped.load(std::memory_order_relaxed)) return false;
    const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
    if (i >= count) return false;
    if (stop.stop_requested()) {
      stopped = true;
      return false;
    }
    try {
      task(i);
    } catch (...) {
      const std::lock_guard lock(failing);
      if (!failure) failure = std::current_exception();
      stopped = true;
    }
    return true;
  }
};

Pool::Pool(int threads) {
  if (threads <= 0) threads = std::clamp(allowedProcessors(), 1, 16);
  threads = std::min(threads, kMostThreads);
  workers_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int i = 1; i < threads; ++i)
      workers_.emplace_back([this, i](std::stop_token quit) {
        placeInPool = static_cast<std::size_t>(i);
        work(quit);
      });
  } catch (const std::system_error&) {  // no more threads, or no memory for their stacks
  } catch (const std::bad_alloc&) {
  }
}

Pool::~Pool() {
  for (std::jthread& worker : workers_) worker.request_stop();
  const std::lock_guard lock(sleep_);
  wake_.notify_all();
}

void Pool::beginBackground() {
  const std::lock_guard lock(naming_);
  background_.push_back(std::this_thread::get_id());
}

void Pool::endBackground() {
  const std::lock_guard lock(naming_);
  background_.erase(std::find(background_.begin(), background_.end(), std::this_thread::get_id()));
}

bool Pool::isBackground(std::thread::id thread) const {
  const std::lock_guard lock(naming_);
  return std::find(background_.begin(), background_.end(), thread) != background_.end();
}

void Pool::endForeground() {
  if (--foreground_ == 0 && backgroundRuns_ > 0) wakeAll();
}

void Pool::wakeAll() {
  ++generation_;
  const std::lock_guard lock(sleep_);
  wake_.notify_all();
}

bool Pool::insideTask(std::thread::id thread) const {
  return thread == front_.owner.load() || thread == back_.owner.load() ||
         std::any_of(workers_.begin(), workers_.end(),
                     [&](const std::jthread& worker) { return worker.get_id() == thread; });
}

bool Pool::run(std::size_t count, const std::stop_token& stop, const std::function<void(std::size_t)>& task) {
  const std::thread::id self = std::this_thread::get_id();
  const bool inside = insideTask(self), background = !inside && isBackground(self);
  Job job{count, stop, task, background, {}, {}, {}, {}};
  if (inside) {
    while (job.step()) {
    }
  } else {
    background ? static_cast<void>(++backgroundRuns_) : beginForeground();
    Team& team = background ? back_ : front_;
    if (workers_.empty() || count < 2 || !team.running.try_lock()) {
      takePart(job, true);
    } else {
      const std::lock_guard running(team.running, std::adopt_lock);
      runTogether(team, job);
    }
    background ? static_cast<void>(--backgroundRuns_) : endForeground();
  }
  if (job.failure) std::rethrow_exception(job.failure);
  return !job.stopped;
}

void Pool::runTogether(Team& team, Job& job) {
  team.owner = std::this_thread::get_id();
  team.job = &job;
  ++sharedRuns;
  wakeAll();
  {
    const BusyTime busy;
    takePart(job, true);
  }
  // Nobody can join any more; wait for those who have.
  team.job = nullptr;
  for (int turn = 0; team.users.load() != 0; ++turn) turn < kTimeout ? relax() : std::this_thread::yield();
  team.owner = std::thread::id();
}

/// When foreground work arrives, workers leave background work and its owner waits.
void Pool::takePart(Job& job, bool owner) {
  while (true) {
    if (job.background && foreground_.load() > 0) {
      if (!owner) return;
      waitForForeground(job.stop);
    }
    if (!job.step()) return;
  }
}

void Pool::waitForForeground(const std::stop_token& stop) {
  std::unique_lock lock(sleep_);
  wake_.wait(lock, stop, [this] { return foreground_.load() == 0; });
}

/// Registers before reading the job, because the owner removes the job before it counts users.
void Pool::join(Team& team) {
  ++team.users;
  if (Job* const job = team.job.load()) {
    const BusyTime busy;
    takePart(*job, false);
  }
  --team.users;
}

void Pool::work(std::stop_token quit) {
  std::uint32_t seen = 0;
  while (!quit.stop_requested()) {
    const auto awakeUntil = std::chrono::steady_clock::now() + kAwake;
    while (generation_.load() == seen && std::chrono::steady_clock::now() < awakeUntil) relax();
    if (generation_.load() == seen) {
      std::unique_lock lock(sleep_);
      wake_.wait(lock, quit, [&] { return generation_.load() != seen; });
    }
    seen = generation_.load();
    join(front_);
    join(back_);
  }
}

PoolTally takePoolTally() {
  PoolTally tally{sharedRuns.exchange(0), {}};
  const int threads = sharedPool().threads();
  for (int i = 0; i < threads; ++i)
    tally.busySeconds.push_back(1e-9 *
                                static_cast<double>(busyTimes[static_cast<std::size_t>(i)].exchange(0)));
  return tally;
}

namespace {

std::optional<Pool>& keptPool() {
  // Anything but a number of at least 1 leaves the choice to the pool, like 0.
  const char* const asked = std::getenv("HEADSCOPE_THREADS");
  // Never destroyed: a system may hold a lock while it destroys static objects, and a worker that first uses
  // one of the standard library's then waits for that lock, while it is waited for.
  static auto* const pool =
      new std::optional<Pool>(std::in_place, asked ? std::clamp(std::atoi(asked), 0, kMostThreads) : 0);
  return *pool;
}

}  // namespace

Pool& sharedPool() {
  return *keptPool();
}

void renewSharedPool(int threads) {
  keptPool().emplace(threads);  // at the same address, so references stay valid
}

}  // namespace headscope::attention::kernels
