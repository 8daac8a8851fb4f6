#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "attention/core/result.h"

namespace headscope::app {

/// Starts `program`, which is looked up in PATH unless it names a folder, with the arguments `words` and the
/// standard streams of `files`. Signals that this program blocks, and SIGPIPE, act in it as usual. Returns 0,
/// or the error number if it can't be started.
int spawnProgram(const std::string& program, const std::vector<std::string>& words,
                 const posix_spawn_file_actions_t& files, pid_t& process);

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
  std::string said() const;
  /// The exit code, or 128 plus the signal that ended it; nothing while it runs.
  std::optional<int> ended() const;

 private:
  ChildProgram() = default;
  void listen(int from);

  mutable std::mutex mutex_;
  std::string said_;
  std::optional<int> ended_;
  pid_t process_ = -1;
  std::function<void()> wake_;
  std::thread listener_;
};

/// The path of the running executable.
inline constexpr const char* kThisProgram = "/proc/self/exe";

}  // namespace headscope::app
