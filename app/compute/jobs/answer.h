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

/// What was computed from one request, together with that request.
template <class Request, class Value>
struct Answered {
  Request request;
  attention::Result<Value> value;
  double seconds = 0;  ///< that computing it took
};

/// One question that is asked again and again: the newest request wins, and what is there stays until the
/// next answer. Work that a newer request has waited on for Workers::kPatience is stopped; shorter work is
/// always finished and shown. Requests are compared with ==. All members may be called from any thread.
template <class Request, class Value>
class Answer {
 public:
  /// Called on a lane. What it returns after its token was stopped is thrown away; what it throws is an
  /// error.
  using Compute = std::function<attention::Result<Value>(const Request&, std::stop_token)>;

  Answer(Workers& workers, Compute compute)
      : compute_(std::move(compute)), job_(workers, [this](std::stop_token stop) { work(stop); }) {}

  /// Asking again for what is shown, waits or runs costs nothing.
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

  /// The newest answer; null before the first.
  std::shared_ptr<const Answered<Request, Value>> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }

  /// Whether the newest answer is the one to `request`.
  bool upToDate(const Request& request) const {
    const auto answer = current();
    return answer && answer->request == request;
  }

  /// Since the oldest request that has no answer was asked; 0 when nothing is under way.
  double busySeconds() const {
    const std::lock_guard lock(mutex_);
    return oldest_ ? std::max(1e-9, secondsSince(*oldest_)) : 0;
  }

  /// Drops the newest answer too: what it and its request hold is free.
  void forget() {
    std::shared_ptr<const One> before;
    const std::lock_guard lock(mutex_);
    cancelAll();
    before = std::exchange(current_, nullptr);
  }

  /// Drops what waits and stops what runs. The newest answer stays.
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
      dropWaiting();  // what was asked since this began is `one`
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
      waiting_ = one;  // the newer request it was stopped for has been taken back
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
  Workers::Job job_;  // last: it ends before what its work touches goes
};

}  // namespace headscope::app
