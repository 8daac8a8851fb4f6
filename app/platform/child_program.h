#pragma once

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

/// This program, run once more beside the window for what takes long. It ends with who owns it.
class ChildProgram {
 public:
  /// Whether programs can be started here at all.
  static bool available();
  /// `program`: its file. `wake` is called, on a thread of its own, where it has said something or has ended.
  static attention::Result<std::unique_ptr<ChildProgram>> start(const std::string& program,
                                                                const std::vector<std::string>& words,
                                                                std::function<void()> wake);
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  void stop();
  /// Its last line on standard error.
  std::string said() const;
  /// Its exit code; nothing while it runs.
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

/// The file of the program that runs.
inline constexpr const char* kThisProgram = "/proc/self/exe";

}  // namespace headscope::app
