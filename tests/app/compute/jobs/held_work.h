#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <vector>

namespace headscope::test {

/// A computation controlled by the test. Reports when it starts, and ends when it is released or stopped.
class HeldWork {
 public:
  int operator()(int request, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    begun_.push_back(request);
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return open_; });
    if (stop.stop_requested()) stopped_.push_back(request);
    changed_.notify_all();
    return 10 * request;
  }
  /// Blocks until `count` computations have started, or have been stopped.
  void waitForBegun(std::size_t count) { waitFor(begun_, count); }
  void waitForStopped(std::size_t count) { waitFor(stopped_, count); }
  void open(bool open = true) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  std::vector<int> begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  std::vector<int> stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  void waitFor(const std::vector<int>& which, std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return which.size() >= count; });
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<int> begun_, stopped_;
  bool open_ = false;
};

}  // namespace headscope::test
