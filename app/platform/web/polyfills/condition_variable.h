#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "app/platform/web/polyfills/stop_token.h"

namespace headscope::stand_in {

/// Replaces C++20's std::condition_variable_any. Its waits also end when a stop is requested.
class condition_variable_any {
 public:
  condition_variable_any() = default;
  condition_variable_any(const condition_variable_any&) = delete;
  condition_variable_any& operator=(const condition_variable_any&) = delete;

  void notify_one() { notify_all(); }
  void notify_all() {
    const std::lock_guard lock(*mutex_);
    changed_.notify_all();
  }
  template <typename Lock>
  void wait(Lock& lock) {
    sleep(lock, [this](auto& own) { changed_.wait(own); });
  }
  template <typename Lock, typename Done>
  void wait(Lock& lock, Done done) {
    while (!done()) wait(lock);
  }
  template <typename Lock, typename Done>
  bool wait(Lock& lock, stop_token stop, Done done) {
    const stop_callback told(stop, [this] { notify_all(); });
    while (!done()) {
      if (stop.stop_requested()) return false;
      sleep(lock, [&](auto& own) {
        if (!stop.stop_requested()) changed_.wait(own);
      });
    }
    return true;
  }
  template <typename Lock, typename Clock, typename Duration, typename Done>
  bool wait_until(Lock& lock, stop_token stop, const std::chrono::time_point<Clock, Duration>& end,
                  Done done) {
    const stop_callback told(stop, [this] { notify_all(); });
    while (!done()) {
      if (stop.stop_requested() || Clock::now() >= end) return false;
      sleep(lock, [&](auto& own) {
        if (!stop.stop_requested()) changed_.wait_until(own, end);
      });
    }
    return true;
  }
  template <typename Lock, typename Rep, typename Period, typename Done>
  bool wait_for(Lock& lock, stop_token stop, const std::chrono::duration<Rep, Period>& time, Done done) {
    return wait_until(lock, std::move(stop), std::chrono::steady_clock::now() + time, std::move(done));
  }
  template <typename Lock, typename Rep, typename Period, typename Done>
  bool wait_for(Lock& lock, const std::chrono::duration<Rep, Period>& time, Done done) {
    return wait_for(lock, stop_token(), time, std::move(done));
  }

 private:
  /// Locks mutex_ before releasing the caller's mutex, so that no notification is lost.
  template <typename Lock, typename Sleep>
  void sleep(Lock& lock, Sleep sleep) {
    const std::shared_ptr<std::mutex> mutex = mutex_;
    std::unique_lock own(*mutex);
    lock.unlock();
    sleep(own);
    own.unlock();
    lock.lock();
  }
  std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
  std::condition_variable changed_;
};

}  // namespace headscope::stand_in
