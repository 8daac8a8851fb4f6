#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "app/scene/scene.h"
#include "attention/formats/files/regular_file.h"

namespace headscope::app {

/// A scene that is kept for recovery.
struct KeptScene {
  std::filesystem::path path;  ///< of the file it belongs to; empty: none
  std::shared_ptr<const Scene> scene;
  bool operator==(const KeptScene& other) const {
    return path == other.path && (scene == other.scene || *scene == *other.scene);
  }
};

/// The name of a recovery file, held by a lock as long as this lives: nobody else offers or removes the file.
struct RecoveryClaim {
  std::filesystem::path file;
  attention::Descriptor lock;
};

/// What a window that ended left unsaved.
struct Recovery {
  struct Entry {
    std::filesystem::path path;  ///< of the file the scene belongs to; empty: none
    std::string text;            ///< the scene as JSON
    std::string page, words;     ///< the key of its page and the text that its heads read; "" = not there
  };
  RecoveryClaim claim;
  std::chrono::system_clock::time_point at;  ///< when it was kept
  std::vector<Entry> entries;                ///< what was worked on comes last; empty with a problem
  std::string problem;                       ///< why the file can't be read; "" = it can
};
/// The scene of an entry, with what it names opened. Errors: what parseScene() and openSubject() say.
attention::Result<Scene> recoveredScene(const Recovery::Entry& entry, const std::stop_token& stop = {});

/// One window's unsaved work in a file of its own, from which the next start recovers it. Each window of
/// `folder` has another file: JSON with "format", "version", "time" (seconds since 1970) and "scenes", each a
/// "path" and a "scene". Any thread may call any member.
class RecoveryStore {
 public:
  using Clock = std::chrono::system_clock;

  /// Touches no disk. With an empty folder nothing is kept.
  explicit RecoveryStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Writes what was noted and is not on disk, so that an exception that ends the window loses nothing.
  ~RecoveryStore();
  /// From now on writes what is noted on a thread of its own, `delay` after it changed: no frame, slow read
  /// or computation holds it up, and what ends the program without a word loses no more than that time.
  void writeAside(std::chrono::milliseconds delay);

  const std::filesystem::path& folder() const { return folder_; }
  /// What is unsaved now; the disk stays as it is.
  void note(std::vector<KeptScene> unsaved);
  /// Whether the window's file is there.
  bool holdsWork() const;
  /// Whether the file holds what has been saved since or given up.
  bool outdated() const;
  /// Brings the file in line with what was noted last: written whole or not at all, and removed where nothing
  /// is unsaved.
  attention::Status write(Clock::time_point now = Clock::now());
  /// Why the last write failed; "" where it didn't.
  std::string problem() const;

  /// Files of windows that ended, newest first. None that another start is just offering.
  std::vector<std::shared_ptr<Recovery>> abandoned() const;
  /// What it holds has been noted: its file goes when this window's own has been written.
  void adopt(std::shared_ptr<Recovery> recovery);
  /// Removes its file.
  static void discard(const Recovery& recovery);
  /// Before its scenes are opened and drawn to show them: whether they may be. They may not where the last
  /// attempt didn't come to its end, for it may have ended the program.
  static bool beginPreview(const Recovery& recovery);
  static void endPreview(const Recovery& recovery);

 private:
  attention::Status writeNoted(Clock::time_point now);
  attention::Status writeScenes(const std::vector<KeptScene>& scenes, Clock::time_point now);
  void serve(const std::stop_token& stop, std::chrono::milliseconds delay);

  const std::filesystem::path folder_;
  std::mutex writing_;                    ///< one at a time; locked before mutex_
  std::unique_ptr<RecoveryClaim> claim_;  ///< guarded by writing_; null until something was unsaved
  mutable std::mutex mutex_;              ///< guards everything below
  std::vector<KeptScene> noted_, written_;
  std::vector<std::shared_ptr<Recovery>> adopted_;
  std::string problem_;
  bool changed_ = false;  ///< noted_ is not what a write has looked at
  std::condition_variable_any noticed_;
  std::jthread aside_;  // last: it ends before what it touches goes
};

}  // namespace headscope::app
