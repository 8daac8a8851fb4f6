#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "attention/formats/files/regular_file.h"

namespace headscope::app {

// Files that another program of the same person hands to a window that is open, as `headscope --send FILE`
// and headscope.py do. Each window listens at a socket in a folder of its own person; what is sent is a path.

/// Where windows listen: $XDG_RUNTIME_DIR/headscope, else a folder in stateFolder(); empty where neither is
/// known.
std::filesystem::path windowsFolder();
/// The display that windows of this process are on, as a part of a file's name; "" without one.
std::string displayName();

/// The ear of one window.
class SentFiles {
 public:
  /// Listens in that folder, which is made for this person alone. `wake` is called on a thread of its own
  /// when something has come. Where nothing can be listened to, nothing comes.
  SentFiles(const std::filesystem::path& folder, const std::string& display, std::function<void()> wake);
  ~SentFiles();
  SentFiles(const SentFiles&) = delete;
  SentFiles& operator=(const SentFiles&) = delete;

  /// What has come since the last call, in order.
  std::vector<std::filesystem::path> take();

 private:
  void serve();
  void receive(int from);
  bool waitFor(int descriptor, int seconds) const;

  const std::function<void()> wake_;
  attention::Descriptor folder_, socket_{-1}, stopRead_{-1}, stopWrite_{-1};
  std::string name_;  ///< of the socket in its folder
  std::mutex mutex_;
  std::vector<std::filesystem::path> come_;
  std::thread thread_;
};

/// Hands a path to the window that was opened last and answers, of those on `display`, or of all without one.
/// Whether one took it. Windows that are gone are cleared away; one that hangs is passed over after a second.
bool sendFile(const std::filesystem::path& folder, const std::string& display,
              const std::filesystem::path& path);

}  // namespace headscope::app
