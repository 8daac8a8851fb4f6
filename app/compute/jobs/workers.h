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

/// The thread that does the work: front for what the user is looking at, back for tiles, previews and
/// studies.
enum class Lane { front, back };

/// The compute threads: one per lane, and a timer that stops work on which newer work has waited too long.
/// Must outlive its jobs.
class Workers {
 public:
  /// How long a job's newer work waits before its running work is stopped.
  static constexpr std::chrono::milliseconds kTimeout{250};
  static constexpr std::chrono::seconds kUntilIdle{5};

  /// `wake` is called on a lane after each piece of work. `releaseIdle` is called on the timer's thread, once
  /// after each period of work, when there has been none for kUntilIdle. Both must be safe to call from
  /// there. Without `threads`, work() does the work.
  explicit Workers(std::function<void()> wake, std::function<void()> releaseIdle = {},
                   bool threads = attention::kHasThreads);
  /// Requests a stop from running work and waits for it to end.
  ~Workers();

  /// Blocks until nothing waits or runs on any lane. For tests and headless rendering; never call it in the
  /// window.
  void finish();
  /// Without threads, does the next piece of work on the calling thread, front lane first, and returns true
  /// if there was one. May be called while an earlier call is still inside its work; then only work of higher
  /// priority is done, that is front-lane work during back-lane work.
  bool work();
  /// Whether anything waits or runs on any lane.
  bool busy();
  /// For quitting: drops waiting work, stops running work and accepts no more.
  void stop();
  /// Waits up to `within` until nothing waits or runs. Returns whether that was reached.
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
  /// Stops work that newer work has waited on for too long. Returns when to check next; null if nothing is
  /// pending.
  std::optional<Clock::time_point> endPatience();
  /// Calls releaseIdle if it is due. Otherwise returns when it will be; null if it isn't pending.
  std::optional<Clock::time_point> releaseWhenIdle(std::unique_lock<std::mutex>& lock);

  const std::function<void()> wake_, releaseIdle_;
  std::mutex mutex_;  ///< guards everything below and the jobs' states
  std::condition_variable_any changed_;
  std::vector<Job*> jobs_;
  std::uint64_t tickets_ = 0, changes_ = 0;
  std::optional<Clock::time_point> idleSince_;  ///< when work last ended; null once releaseIdle was called
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // last member: destroyed first, so that its threads end
};

/// One owner's work. At most one piece runs and at most one waits at any time.
class Workers::Job {
 public:
  using Work = std::function<void(std::stop_token)>;

  /// `work` is called on a lane once per start(), unless dropped or merged with a waiting start; it must not
  /// throw. With `patience`, running work is asked to stop once a newer start has waited that long.
  Job(Workers& workers, Work work, std::optional<std::chrono::milliseconds> patience = kTimeout);
  /// Requests a stop from running work and waits for it to end.
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Queues the work on `lane`. If it is already waiting, it keeps its turn and moves to `lane`. May be
  /// called from within the work.
  void start(Lane lane);
  /// Drops the waiting work.
  void drop();
  /// Requests a stop from the running work.
  void stop();

 private:
  friend class Workers;

  Workers& workers_;
  const Work work_;
  const std::optional<std::chrono::milliseconds> patience_;
  std::optional<Lane> waiting_;
  std::uint64_t ticket_ = 0;  ///< the order of the starts
  Clock::time_point waitingSince_;
  std::optional<Lane> running_;
  std::stop_source stop_;
};

}  // namespace headscope::app
