#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace headscope::app {

/// A file or folder as listed in a dialog.
struct FolderEntry {
  std::string name;
  bool folder = false;
  bool operator==(const FolderEntry&) const = default;
};

/// What was found at a path.
struct FoundPath {
  std::filesystem::path path;  ///< the question's path, with the ending if one was added
  enum class Kind {
    missing,  ///< nothing there, and no parent folder either
    free,     ///< nothing there, in an existing folder
    file,
    folder
  } kind = Kind::missing;
  std::vector<FolderEntry> entries;  ///< of a folder: folders first, then files, each sorted by name
  std::size_t omitted = 0;           ///< entries beyond the first kMaxFolderEntries
  std::string problem;               ///< why the folder could not be read; "" = no problem
};

inline constexpr std::size_t kMaxFolderEntries = 2000;

/// A path to look up and, in case it is a folder, the endings (".json") of the files to list.
struct PathQuestion {
  std::filesystem::path path;
  std::vector<std::string> endings;
  std::string added;  ///< ending appended to a name that has none and is not a folder; "" = append nothing
};

/// Looks up a path on the calling thread. Returns early when `stop` is requested. Counts the entries visited
/// in `seen`. Hidden entries are left out.
FoundPath findPath(const PathQuestion& question, std::stop_token stop, std::atomic<std::size_t>& seen);

/// Looks up paths for file dialogs off the main thread. A read from a hanging network folder can't be
/// interrupted, so each look has its own thread, and nobody waits for an abandoned one. All members must be
/// called from one thread.
class FolderReads {
 public:
  using Find = std::function<FoundPath(const PathQuestion&, std::stop_token, std::atomic<std::size_t>&)>;

  /// `wake` is called on another thread when a look completes, never after the destructor.
  explicit FolderReads(std::function<void()> wake);
  ~FolderReads();
  FolderReads(const FolderReads&) = delete;
  FolderReads& operator=(const FolderReads&) = delete;

  class Look;
  /// Starts a look. Destroying the returned object abandons it. If it can't be started, its result holds a
  /// problem.
  std::unique_ptr<Look> look(PathQuestion question);

  /// Blocks until every look that was not abandoned has completed. For tests and headless rendering; never
  /// call it in the window.
  void finish();
  /// Replaces the function that reads the disk. For tests.
  void findWith(Find find) { find_ = std::move(find); }

  std::filesystem::path last;  ///< the folder the last dialog was in; "" = none yet

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;  ///< shared with the threads, which may outlive this
  Find find_ = findPath;
};

/// One path lookup in progress.
class FolderReads::Look {
 public:
  ~Look();
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  const PathQuestion& question() const;
  /// Returns the result once; none until it is available.
  std::optional<FoundPath> take();
  /// Returns the number of folder entries visited so far.
  std::size_t seen() const;
  double seconds() const;  ///< since it was started

 private:
  friend class FolderReads;
  struct State;
  Look(std::shared_ptr<Shared> shared, std::shared_ptr<State> state);
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<State> state_;
};

}  // namespace headscope::app
