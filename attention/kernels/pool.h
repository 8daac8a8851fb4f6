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
  /// `threads` in all, the asking one included; one for each processor, at most 16, when 0. Fewer where the
  /// system gives no more.
  explicit Pool(int threads = 0);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(i) once for each i below `count`, in any order, on several threads, and returns when all
  /// are done. `stop` is asked before each task; once it is requested the rest are left out and the answer
  /// is false. While another thread's run is under way, and for a run inside a task, all tasks are done by
  /// the calling thread: nobody waits for somebody else's work. The first exception of a task is thrown on.
  bool run(std::size_t count, const std::stop_token& stop, const std::function<void(std::size_t)>& task);

 private:
  struct Job;
  void work(std::stop_token quit);

  std::mutex running_;  ///< held by the thread whose run the workers see
  std::atomic<Job*> job_{nullptr};
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<int> users_{0};  ///< workers that may hold the job
  std::mutex sleep_;
  std::condition_variable_any wake_;
  int sleeping_ = 0;  ///< guarded by sleep_
  std::vector<std::jthread> workers_;
};

/// The one pool that all kernels share.
Pool& sharedPool();

}  // namespace headscope::attention::kernels
