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

/// A file or folder as a dialog lists it.
struct FolderEntry {
  std::string name;
  bool folder = false;
  bool operator==(const FolderEntry&) const = default;
};

/// What a path leads to.
struct FoundPath {
  std::filesystem::path path;  ///< the question's, with the ending that was added
  enum class Kind {
    missing,  ///< nothing, nor is there a folder it could be in
    free,     ///< nothing, in a folder that is there
    file,
    folder
  } kind = Kind::missing;
  std::vector<FolderEntry> entries;  ///< of a folder: folders first, then files, each by name
  std::size_t omitted = 0;           ///< entries beyond the first kMaxFolderEntries
  std::string problem;               ///< why a folder could not be read; "" = it was
};

inline constexpr std::size_t kMaxFolderEntries = 2000;

/// What is asked for: a path and, should it be a folder, the endings (".json") of the files to be listed.
struct PathQuestion {
  std::filesystem::path path;
  std::vector<std::string> endings;
  std::string added;  ///< ending of a name that has none and is no folder's; "" = it is left as it is
};

/// Looks at the disk, on the calling thread: returns early when `stop` is requested, and counts the entries
/// it has come by in `seen`. Hidden entries are left out.
FoundPath findPath(const PathQuestion& question, std::stop_token stop, std::atomic<std::size_t>& seen);

/// Looks at paths for file dialogs away from the thread that draws. A folder of a network disk that hangs
/// can't be interrupted, so that each look has a thread of its own, and nobody waits for one that was given
/// up. All members are called from one thread.
class FolderReads {
 public:
  using Find = std::function<FoundPath(const PathQuestion&, std::stop_token, std::atomic<std::size_t>&)>;

  /// `wake` is called on another thread when a look has come back, and never after the destructor.
  explicit FolderReads(std::function<void()> wake);
  ~FolderReads();
  FolderReads(const FolderReads&) = delete;
  FolderReads& operator=(const FolderReads&) = delete;

  class Look;
  /// Letting go of what is returned gives it up. A look that can't be begun comes back with a problem.
  std::unique_ptr<Look> look(PathQuestion question);

  /// Blocks until every look that nobody has given up has come back. For tests and headless rendering, never
  /// for the window.
  void finish();
  /// What looks at the disk, for tests.
  void findWith(Find find) { find_ = std::move(find); }

  std::filesystem::path last;  ///< the folder in which the last dialog was left; "" = none yet

 private:
  struct Shared;
  const std::shared_ptr<Shared> shared_;  ///< with the threads, some of which may outlive this
  Find find_ = findPath;
};

/// One path that is being looked at.
class FolderReads::Look {
 public:
  ~Look();
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  const PathQuestion& question() const;
  /// What was found, once; none while it is being looked for.
  std::optional<FoundPath> take();
  /// Entries of the folder come by so far.
  std::size_t seen() const;
  double seconds() const;  ///< since it was asked for

 private:
  friend class FolderReads;
  struct State;
  Look(std::shared_ptr<Shared> shared, std::shared_ptr<State> state);
  const std::shared_ptr<Shared> shared_;
  const std::shared_ptr<State> state_;
};

}  // namespace headscope::app
