#include "attention/kernels/pool.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace headscope::attention::kernels {
namespace {

/// How long a thread stays awake for the next run: longer than the gaps between the phases of one layer.
constexpr std::chrono::microseconds kAwake{50};

/// Turns of waiting for a worker to finish before its processor is thought to be somebody else's.
constexpr int kPatience = 4096;

thread_local bool insideRun = false;

/// Tells the processor that this thread only waits.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

/// One run, on the asking thread's stack. A worker may look at it only between joining and leaving.
struct Pool::Job {
  Job(std::size_t taskCount, const std::stop_token& token, const std::function<void(std::size_t)>& work)
      : count(taskCount), stop(token), task(work) {}

  const std::size_t count;
  const std::stop_token& stop;
  const std::function<void(std::size_t)>& task;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex failing;
  std::exception_ptr failure;

  void takePart() {
    const bool outer = std::exchange(insideRun, true);
    while (!stopped.load(std::memory_order_relaxed)) {
      const std::size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= count) break;
      if (stop.stop_requested()) {
        stopped = true;
        break;
      }
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
        stopped = true;
      }
    }
    insideRun = outer;
  }
};

Pool::Pool(int threads) {
  if (threads <= 0) threads = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 16);
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this](std::stop_token quit) { work(quit); });
}

Pool::~Pool() {
  for (std::jthread& worker : workers_) worker.request_stop();
  const std::lock_guard lock(sleep_);
  wake_.notify_all();
}

bool Pool::run(std::size_t count, const std::stop_token& stop, const std::function<void(std::size_t)>& task) {
  Job job(count, stop, task);
  const bool alone = workers_.empty() || count < 2 || insideRun || !running_.try_lock();
  if (alone) {
    job.takePart();
  } else {
    const std::lock_guard owner(running_, std::adopt_lock);
    job_ = &job;
    generation_.fetch_add(1);
    {
      const std::lock_guard lock(sleep_);
      if (sleeping_ > 0) wake_.notify_all();
    }
    job.takePart();
    // Nobody can join any more, so whoever has joined is all there is to wait for.
    job_ = nullptr;
    for (int turn = 0; users_.load() != 0; ++turn) turn < kPatience ? relax() : std::this_thread::yield();
  }
  if (job.failure) std::rethrow_exception(job.failure);
  return !job.stopped;
}

void Pool::work(std::stop_token quit) {
  std::uint32_t seen = 0;
  while (!quit.stop_requested()) {
    const auto awakeUntil = std::chrono::steady_clock::now() + kAwake;
    while (generation_.load() == seen && std::chrono::steady_clock::now() < awakeUntil) relax();
    if (generation_.load() == seen) {
      std::unique_lock lock(sleep_);
      ++sleeping_;
      wake_.wait(lock, quit, [&] { return generation_.load() != seen; });
      --sleeping_;
    }
    seen = generation_.load();
    // Joined first, then looked: the owner takes the job away before it counts.
    ++users_;
    if (Job* const job = job_.load()) job->takePart();
    --users_;
  }
}

Pool& sharedPool() {
  static Pool pool;
  return pool;
}

}  // namespace headscope::attention::kernels
