#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

/// Another process of this program, for long work next to the window. Its destructor stops it.
class ChildProgram {
 public:
  /// Whether this platform can start programs at all.
  static bool available();
  /// Starts the executable `program` with the arguments `words`. Calls `wake` on another thread whenever the
  /// process has written to standard error, and when it has ended.
  static attention::Result<std::unique_ptr<ChildProgram>> start(const std::string& program,
                                                                const std::vector<std::string>& words,
                                                                std::function<void()> wake);
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  void stop();
  /// The last complete line it wrote to standard error.
  std::string said() const {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  /// The exit code, or 128 plus the signal that ended it; nothing while it runs.
  std::optional<int> ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

 private:
  ChildProgram() = default;
  void listen(std::intptr_t from);  // a descriptor or a handle

  mutable std::mutex mutex_;
  std::string said_;
  std::optional<int> ended_;
  std::intptr_t process_ = -1;  // its number or a handle
  std::function<void()> wake_;
  std::thread listener_;
};

}  // namespace headscope::app
