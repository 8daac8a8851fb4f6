#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "attention/core/threads.h"

namespace headscope::app {

/// Which thread works: the front one for what is looked at, the back one for tiles, previews and studies.
enum class Lane { front, back };

/// The threads that compute: one for each lane, and a clock that ends the patience with work that newer work
/// waits for. Must outlive its jobs.
class Workers {
 public:
  /// How long a job's newer work waits before the older is stopped.
  static constexpr std::chrono::milliseconds kPatience{250};
  static constexpr std::chrono::seconds kUntilIdle{5};

  /// `wake` is called on a lane after each piece of work, `releaseIdle` on the clock's thread when nothing
  /// has been asked for in kUntilIdle, once after each work. Both must be safe to call from there.
  /// Without `threads`, work() does the work.
  explicit Workers(std::function<void()> wake, std::function<void()> releaseIdle = {},
                   bool threads = attention::kHasThreads);
  /// Stops what runs and waits for its end.
  ~Workers();

  /// Blocks until nothing waits or runs on any lane. For tests and headless rendering, never for the window.
  void finish();
  /// Where there are no threads, does what is next, of the front lane first, on the calling thread; whether
  /// there was anything. May be called while an earlier call rests inside its work: then only work that goes
  /// before that one is done, of the front lane beside the back one.
  bool work();
  /// Whether anything waits or runs on any lane.
  bool busy();
  /// For quitting: drops what waits, stops what runs and takes nothing more.
  void stop();
  /// Whether nothing waits or runs any more `within` that time.
  bool finished(std::chrono::milliseconds within);

  class Job;

 private:
  using Clock = std::chrono::steady_clock;

  void serve(Lane lane, std::stop_token quit);
  void runNext(Job& job, Lane lane, std::unique_lock<std::mutex>& lock);
  void watch(std::stop_token quit);
  Job* next(Lane lane) const;
  bool runs(Lane lane) const;
  bool idle() const;
  void noteChange();
  /// Stops what newer work has waited on for too long; when there is something to do again.
  std::optional<Clock::time_point> endPatience();
  /// Calls releaseIdle when it is time, or says when that is.
  std::optional<Clock::time_point> releaseWhenIdle(std::unique_lock<std::mutex>& lock);

  const std::function<void()> wake_, releaseIdle_;
  std::mutex mutex_;  ///< guards everything below and the jobs' states
  std::condition_variable_any changed_;
  std::vector<Job*> jobs_;
  std::uint64_t tickets_ = 0, changes_ = 0;
  std::optional<Clock::time_point> idleSince_;  ///< until releaseIdle was called
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // last: they end before what they touch goes
};

/// The work of one owner: one piece of it runs at a time, and at most one waits.
class Workers::Job {
 public:
  using Work = std::function<void(std::stop_token)>;

  /// `work` is called on a lane once for each start(); it must not throw. With `patience` what runs is told
  /// to stop when a newer start has waited that long.
  Job(Workers& workers, Work work, std::optional<std::chrono::milliseconds> patience = kPatience);
  /// Stops what runs and waits for its end.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Has the work called on `lane` behind what was started before it there. What waits already keeps its
  /// turn, and changes the lane. Also from within the work.
  void start(Lane lane);
  /// What waits is not wanted any more.
  void drop();
  /// What runs is not wanted any more.
  void stop();

 private:
  friend class Workers;

  Workers& workers_;
  const Work work_;
  const std::optional<std::chrono::milliseconds> patience_;
  std::optional<Lane> waiting_;
  std::uint64_t ticket_ = 0;  ///< the order in which jobs were started
  Clock::time_point waitingSince_;
  std::optional<Lane> running_;
  std::stop_source stop_;
};

}  // namespace headscope::app
