#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headscope::app {

// Files that another process of the same user sends to an open window, as `headscope --send FILE` and
// headscope.py do. Each window listens on a socket in a folder private to its user, or on Windows on a pipe
// with a name in that folder. Only the path is sent.

/// Returns the folder of the windows' sockets: $XDG_RUNTIME_DIR/headscope, otherwise a folder in
/// stateFolder(). Empty if neither is known.
std::filesystem::path windowsFolder();
/// Returns the display of this process's windows, usable in a file name; "" without one.
std::string displayName();

/// A receiver of the files sent to one window.
class SentFiles {
 public:
  /// Listens in `folder`, which it creates for this user only. Calls `wake` on another thread when a file
  /// arrives. If listening fails, no files arrive.
  SentFiles(const std::filesystem::path& folder, const std::string& display, std::function<void()> wake);
  ~SentFiles();
  SentFiles(const SentFiles&) = delete;
  SentFiles& operator=(const SentFiles&) = delete;

  /// Returns the files that arrived since the last call, in order.
  std::vector<std::filesystem::path> take();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

/// Sends a path to the most recently opened window that answers, of those on `display`, or of all if it is
/// empty. Returns whether a window took it. Removes sockets of windows that are gone, and skips windows that
/// don't answer within a second.
bool sendFile(const std::filesystem::path& folder, const std::string& display,
              const std::filesystem::path& path);

}  // namespace headscope::app
