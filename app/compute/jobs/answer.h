#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/threads.h"

namespace headscope::app {

/// Describes the exception being handled as "what: why". Call in a catch block. Every exception that is shown
/// to the user, including exhausted memory, is turned into an Error here.
attention::Error caughtError(const std::string& what);

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

/// A computed value together with its request.
template <class Request, class Value>
struct Answered {
  Request request;
  attention::Result<Value> value;
  double seconds = 0;  ///< spent computing it
};

/// The answer to a question that is asked repeatedly. The newest request wins; the current answer stays until
/// the next one. Work is stopped once a newer request has waited for it for Workers::kTimeout; shorter work
/// always finishes and is shown. Requests are compared with ==. Thread-safe.
template <class Request, class Value>
class Answer {
 public:
  /// Called on a lane. The result is discarded if the token was stopped. Exceptions become errors.
  using Compute = std::function<attention::Result<Value>(const Request&, std::stop_token)>;

  Answer(Workers& workers, Compute compute)
      : compute_(std::move(compute)), job_(workers, [this](std::stop_token stop) { work(stop); }) {}

  /// Cheap if `request` is already shown, waiting or running.
  void ask(Request request, Lane lane) {
    const std::lock_guard lock(mutex_);
    lane_ = lane;
    if (waiting_ && waiting_->request == request) return job_.start(lane);
    if (running_ && running_->request == request) return dropWaiting();
    if (current_ && current_->request == request) return cancelAll();
    if (!waiting_) waitingSince_ = Clock::now();
    if (!oldest_) oldest_ = waitingSince_;
    waiting_ = std::make_shared<One>(One{std::move(request), attention::Error{}, 0});
    job_.start(lane);
  }

  /// Returns the newest answer; null before the first.
  std::shared_ptr<const Answered<Request, Value>> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  /// Whether the newest answer is to `request`.
  bool upToDate(const Request& request) const {
    const auto answer = current();
    return answer && answer->request == request;
  }

  /// Returns the seconds since the oldest unanswered request was made; 0 when idle.
  double busySeconds() const {
    const std::lock_guard lock(mutex_);
    return oldest_ ? std::max(1e-9, secondsSince(*oldest_)) : 0;
  }

  /// Like cancel(), but also drops the newest answer, freeing what it and its request hold.
  void forget() {
    std::shared_ptr<const One> before;
    const std::lock_guard lock(mutex_);
    cancelAll();
    before = std::exchange(current_, nullptr);
  }

  /// Drops the waiting request and stops the running one. Keeps the newest answer.
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelAll();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using One = Answered<Request, Value>;

  static double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  void dropWaiting() {
    waiting_.reset();
    job_.drop();
  }

  void cancelAll() {
    dropWaiting();
    running_.reset();
    oldest_.reset();
    job_.stop();
  }

  attention::Result<Value> computed(const Request& request, std::stop_token stop) const {
    try {
      return compute_(request, stop);
    } catch (...) {
      return caughtError("This can't be computed");
    }
  }

  void work(std::stop_token stop) {
    std::shared_ptr<One> one;
    {
      const std::lock_guard lock(mutex_);
      one = running_ = std::move(waiting_);
      dropWaiting();  // a request made since this call began is already in `one`
    }
    if (!one) return;
    const auto start = Clock::now();
    one->value = computed(one->request, stop);
    one->seconds = secondsSince(start);
    std::shared_ptr<const One> before;
    const std::lock_guard lock(mutex_);
    const bool wanted = std::exchange(running_, nullptr) != nullptr;
    const bool finished = wanted && !stop.stop_requested();
    if (finished) before = std::exchange(current_, one);
    if (waiting_) {
      if (finished) oldest_ = waitingSince_;
    } else if (wanted && !finished) {
      waiting_ = one;  // stopped for a newer request that was since withdrawn: run it again
      job_.start(lane_);
    } else {
      oldest_.reset();
    }
  }

  const Compute compute_;
  mutable std::mutex mutex_;
  std::shared_ptr<One> waiting_, running_;
  std::shared_ptr<const One> current_;
  Lane lane_ = Lane::front;
  Clock::time_point waitingSince_;
  std::optional<Clock::time_point> oldest_;
  Workers::Job job_;  // last member: destroyed first, so its work ends before the data it uses
};

}  // namespace headscope::app
