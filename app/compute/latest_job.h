#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace headscope::app {

/// One worker thread on which the newest request wins. A request that has not started is replaced by a
/// newer one; one that is running is told to stop only once it has run longer than `kPatience`, so that a
/// person who keeps dragging still sees results of short computations, and never waits for long ones.
template <typename Request, typename Output>
class LatestJob {
 public:
  using Compute = std::function<Output(const Request&, std::stop_token)>;

  /// `wake` is called on the worker after each result; it must be safe to call from there.
  /// `rest` is called on the worker when nothing has been asked for in a few seconds, once after each result.
  LatestJob(Compute compute, std::function<void()> wake, std::function<void()> rest = {})
      : compute_(std::move(compute)),
        wake_(std::move(wake)),
        rest_(std::move(rest)),
        thread_([this](std::stop_token stop) { run(stop); }) {}

  ~LatestJob() {
    thread_.request_stop();
    const std::lock_guard lock(mutex_);
    running_.request_stop();
    changed_.notify_all();
  }

  void submit(Request request) {
    const std::lock_guard lock(mutex_);
    pending_ = std::move(request);
    if (busy_ && Clock::now() - started_ > kPatience) running_.request_stop();
    changed_.notify_all();
  }

  /// The newest finished result; empty before the first.
  std::shared_ptr<const Output> latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }

  /// Seconds since the oldest unanswered request began to wait or run; 0 when nothing is under way.
  double busySeconds() const {
    const std::lock_guard lock(mutex_);
    if (!busy_) return pending_ ? 1e-9 : 0;
    return std::chrono::duration<double>(Clock::now() - started_).count();
  }

  /// Asks the running computation to stop and drops the waiting one. The latest result stays.
  void cancel() {
    const std::lock_guard lock(mutex_);
    pending_.reset();
    running_.request_stop();
  }

  /// Blocks until nothing is pending or running. For headless rendering and tests, never for the window.
  void finish() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_ && !pending_; });
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{250};
  static constexpr std::chrono::seconds kUntilRest{5};

  void run(std::stop_token quit) {
    std::unique_lock lock(mutex_);
    bool answered = false;
    while (true) {
      const auto asked = [&] { return quit.stop_requested() || pending_.has_value(); };
      if (answered && rest_ && !changed_.wait_for(lock, kUntilRest, asked)) {
        lock.unlock();
        rest_();
        lock.lock();
      }
      answered = false;
      changed_.wait(lock, asked);
      if (quit.stop_requested()) return;
      const Request request = std::move(*pending_);
      pending_.reset();
      busy_ = true;
      started_ = Clock::now();
      running_ = std::stop_source();
      const std::stop_token stop = running_.get_token();
      lock.unlock();
      auto output = std::make_shared<const Output>(compute_(request, stop));
      lock.lock();
      busy_ = false;
      if (!stop.stop_requested()) latest_ = std::move(output);
      output.reset();
      changed_.notify_all();
      lock.unlock();
      wake_();
      answered = true;
      lock.lock();
    }
  }

  Compute compute_;
  std::function<void()> wake_, rest_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Request> pending_;
  std::shared_ptr<const Output> latest_;
  std::stop_source running_;
  Clock::time_point started_;
  bool busy_ = false;
  std::jthread thread_;  // last: it starts when everything above is there, and joins before it goes
};

}  // namespace headscope::app
