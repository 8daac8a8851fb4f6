#pragma once

#include <chrono>

#include "app/scene/scene.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

/// A scene kept for recovery.
struct KeptScene {
  std::filesystem::path path;  ///< the file it belongs to; empty = none
  std::shared_ptr<const Scene> scene;
  std::optional<attention::ContentMark> content = {};  ///< of that file when it was opened or saved
  bool operator==(const KeptScene& other) const {
    return path == other.path && content == other.content && (scene == other.scene || *scene == *other.scene);
  }
};

/// A recovery file, locked as long as this lives, so that nobody else offers or removes it.
struct RecoveryClaim {
  std::filesystem::path file;
  attention::Descriptor lock;
};

/// The unsaved work of a window that has ended.
struct Recovery {
  struct Entry {
    std::filesystem::path path;  ///< the file the scene belongs to; empty = none
    std::string text;            ///< the scene as JSON
    std::string page, words;     ///< key of its page, and the text its heads read; "" = missing
    std::optional<attention::ContentMark> content = {};  ///< of the scene's file when it was opened or saved
  };
  RecoveryClaim claim;
  std::chrono::system_clock::time_point at;  ///< when it was written
  std::vector<Entry> entries;  ///< the one worked on last comes last; empty if there is a problem
  std::string problem;         ///< why the file can't be read; "" = it can
};
/// Parses an entry's scene and opens what it names. Returns the Errors of parseScene() and openSubject().
attention::Result<Scene> recoveredScene(const Recovery::Entry& entry, const std::stop_token& stop = {});

/// One window's unsaved work in a file, from which the next start recovers it. Each window has its own file
/// in `folder`: JSON with "format", "version", "time" (seconds since 1970) and "scenes", each a "path", the
/// "content" of that file (a mark) and a "scene". Thread-safe.
class RecoveryStore {
 public:
  using Clock = std::chrono::system_clock;

  /// Doesn't access the disk. With an empty folder, nothing is kept.
  explicit RecoveryStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Writes what was noted and isn't on disk yet, so that an exception that ends the window loses nothing.
  ~RecoveryStore();
  /// Starts a thread that writes what is noted, `delay` after it changed. No frame, slow read or computation
  /// delays it, and a sudden end of the program loses no more than that time.
  void writeAside(std::chrono::milliseconds delay);

  const std::filesystem::path& folder() const { return folder_; }
  /// Sets what is unsaved now, without accessing the disk.
  void note(std::vector<KeptScene> unsaved);
  /// Whether the window's file exists.
  bool holdsWork() const;
  /// Whether the file holds work that has been saved or discarded since.
  bool outdated() const;
  /// Updates the file to what was noted last: replaces it completely or not at all, or removes it if nothing
  /// is unsaved.
  attention::Status write(Clock::time_point now = Clock::now());
  /// Why the last write failed; "" if it succeeded.
  std::string problem() const;

  /// How many recoveries are read at once: each takes a descriptor, and memory.
  static constexpr std::size_t kMaxOffered = 32;
  /// Reads the files of windows that have ended, newest first, except those being offered already; at most
  /// kMaxOffered. The others remain for later calls.
  std::vector<std::shared_ptr<Recovery>> abandoned() const;
  /// Call once its contents are noted: removes its file after this window's own has been written.
  void adopt(std::shared_ptr<Recovery> recovery);
  /// Removes the file of `recovery`.
  static void discard(const Recovery& recovery);
  /// Call before opening and drawing its scenes for a preview. Returns false if they must not be: the last
  /// attempt didn't finish, and may have ended the program. Call endPreview() afterwards.
  static bool beginPreview(const Recovery& recovery);
  static void endPreview(const Recovery& recovery);

 private:
  attention::Status writeNoted(Clock::time_point now);
  attention::Status writeScenes(const std::vector<KeptScene>& scenes, Clock::time_point now);
  void serve(const std::stop_token& stop, std::chrono::milliseconds delay);

  const std::filesystem::path folder_;
  std::mutex writing_;                    ///< one write at a time; locked before mutex_
  std::unique_ptr<RecoveryClaim> claim_;  ///< guarded by writing_; null until something is unsaved
  mutable std::mutex mutex_;              ///< guards everything below
  std::vector<KeptScene> noted_, written_;
  std::vector<std::shared_ptr<Recovery>> adopted_;
  std::string problem_;
  bool changed_ = false;  ///< whether noted_ changed since a write read it
  std::condition_variable_any noticed_;
  std::jthread aside_;  // last member: destroyed first, so its work ends before the data it uses
};

}  // namespace headscope::app
