#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

namespace headscope::app {

/// A scope in which GLFW may wait for another program about the clipboard: its owner when pasting, its
/// manager when the program ends. If that program doesn't answer within a second, this refuses in its place,
/// so that GLFW goes on. Only for X11; does nothing elsewhere.
class ClipboardLimit {
 public:
  /// `window` is one of GLFW's, which may be closed in this scope.
  explicit ClipboardLimit(void* window);
  ~ClipboardLimit();
  ClipboardLimit(const ClipboardLimit&) = delete;
  ClipboardLimit& operator=(const ClipboardLimit&) = delete;

  /// Whether the second has passed. GLFW may then have received a part of the text.
  bool reached() const { return reached_; }

 private:
  void watch(const std::stop_token& stop, std::uint32_t window);

  std::atomic<bool> reached_ = false;
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last member: destroyed first, so that it ends before the data it uses
};

}  // namespace headscope::app
