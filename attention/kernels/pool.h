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

/// Threads that work through numbered tasks together with the thread that asks. Made once and kept: between
/// two runs that follow each other at once the threads wait awake, afterwards they sleep.
class Pool {
 public:
  /// `threads` in all, the asking one included; one for each processor it may use, at most 16, when 0. Fewer
  /// where the system gives no more.
  explicit Pool(int threads = 0);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i) once for each i below `count`, in any order, on several threads, and returns when all
  /// are done. `stop` is asked before each task; once it is requested the rest are left out and the answer
  /// is false. While another thread's run of the same importance is under way, and for a run inside a task,
  /// all tasks are done by the calling thread: nobody waits for somebody else's work. The first exception of
  /// a task is thrown on.
  bool run(std::size_t count, const std::stop_token& stop, const std::function<void(std::size_t)>& task);

  /// Runs of the calling thread are background work from now on: before each of its tasks the foreground is
  /// asked for, and as long as there is any the tasks wait. So tasks of background work should take a few
  /// milliseconds at the most, and whoever runs them must hold no lock that the foreground wants.
  void beginBackground();
  void endBackground();
  /// All runs of other threads are foreground work while they are under way; so is what is done between these
  /// two calls, which may come from several threads at once.
  void beginForeground() { ++foreground_; }
  void endForeground();

 private:
  struct Job;
  /// Those who work on one run: one for the foreground, one for the background.
  struct Team {
    std::mutex running;                    ///< held by the thread whose run the workers see
    std::atomic<std::thread::id> owner{};  ///< that thread
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
  std::atomic<int> foreground_{0};      ///< foreground runs, and what was begun as such
  std::atomic<int> backgroundRuns_{0};  ///< under way
  mutable std::mutex naming_;
  std::vector<std::thread::id> background_;  ///< guarded by naming_
  std::atomic<std::uint32_t> generation_{0};
  std::mutex sleep_;
  std::condition_variable_any wake_;
  std::vector<std::jthread> workers_;
};

/// The one pool that all kernels share.
/// HEADSCOPE_THREADS in the environment says how many threads it has.
Pool& sharedPool();
/// Has it work on so many threads from now on, as its constructor takes them. While nothing runs.
void renewSharedPool(int threads);

}  // namespace headscope::attention::kernels
