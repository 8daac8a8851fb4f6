#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace headscope::attention::kernels {

/// Statistics of the pools' work.
struct PoolTally {
  std::uint64_t shared = 0;  ///< runs that several threads took part in; each ends by waiting for all of them
  std::vector<double> busySeconds;  ///< on those runs: all calling threads together, then each worker
};

/// Returns the statistics since the last call. Call while nothing runs.
PoolTally takePoolTally();

/// Threads that work through numbered tasks together with the calling thread. Created once and kept: between
/// two runs in quick succession the threads spin, afterwards they sleep.
class Pool {
 public:
  /// Creates `threads` threads including the caller; 0 = one per processor it may use, at most 16. Creates
  /// fewer if the system allows no more.
  explicit Pool(int threads = 0);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i) once for each i below `count`, in any order, on several threads, and returns when all are
  /// done. Checks `stop` before each task; once it is requested, skips the rest and returns false. The
  /// calling thread does all tasks alone while another thread's run of the same priority is in progress, and
  /// for a run inside a task, so it never waits for another caller's work. Rethrows the first exception of a
  /// task.
  bool run(std::size_t count, const std::stop_token& stop, const std::function<void(std::size_t)>& task);

  /// Makes runs of the calling thread background work: their tasks wait while there is foreground work, which
  /// is checked before each task. Background tasks should take at most a few milliseconds, and their caller
  /// must not hold a lock that the foreground needs.
  void beginBackground();
  void endBackground();
  /// All runs of other threads are foreground work. So is the code between these two calls, which several
  /// threads may make at once.
  void beginForeground() { ++foreground_; }
  void endForeground();

 private:
  struct Job;
  /// The threads working on one run. There is one team for the foreground and one for the background.
  struct Team {
    std::mutex running;                    ///< held by the thread whose run the workers join
    std::atomic<std::thread::id> owner{};  ///< the thread holding `running`
    std::atomic<Job*> job{nullptr};
    std::atomic<int> users{0};  ///< workers that may hold the job
  };
  void work(std::stop_token quit);
  void wakeAll();
  void runTogether(Team& team, Job& job);
  void join(Team& team);
  void takePart(Job& job, bool owner);
  void waitForForeground(const std::stop_token& stop);
  bool isBackground(std::thread::id thread) const;
  bool insideTask(std::thread::id thread) const;

  Team front_, back_;
  std::atomic<int> foreground_{0};      ///< current foreground runs and beginForeground() calls
  std::atomic<int> backgroundRuns_{0};  ///< in progress
  mutable std::mutex naming_;
  std::vector<std::thread::id> background_;  ///< guarded by naming_
  std::atomic<std::uint32_t> generation_{0};
  std::mutex sleep_;
  std::condition_variable_any wake_;
  std::vector<std::jthread> workers_;
};

/// The pool that all kernels share. The environment variable HEADSCOPE_THREADS sets its number of threads.
Pool& sharedPool();
/// Recreates the shared pool with this number of threads (see Pool's constructor). Call while nothing runs.
void renewSharedPool(int threads);

}  // namespace headscope::attention::kernels
