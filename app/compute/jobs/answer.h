#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "app/compute/jobs/caught_error.h"
#include "app/compute/jobs/workers.h"

namespace headscope::app {

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
