#pragma once

#include <atomic>
#include <deque>
#include <filesystem>

#include "app/compute/jobs/answer.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

/// Reads and writes files on its own thread, in the order of the calls. Every job's answer is delivered on
/// the thread that calls take(), and every write is finished.
class FileQueue {
 public:
  /// `wake` is called on the queue's thread after each answer. Without `threads`, work() runs the jobs.
  explicit FileQueue(std::function<void()> wake, bool threads = attention::kHasThreads);
  /// Finishes pending writes and waits for the read in progress.
  ~FileQueue();

  /// Runs `job` on the queue's thread and passes its result to `done`. If `job` throws, the result is an
  /// Error that names the file. If `done` changes a document, guard it with a Requester.
  template <typename T>
  void read(const std::filesystem::path& file, std::function<attention::Result<T>()> job,
            std::function<void(attention::Result<T>)> done) {
    push({false, "", answering(file, std::move(job), std::move(done))});
  }
  /// Like read(), for writing a file. The program waits for pending writes before it quits.
  void write(const std::filesystem::path& file, std::function<attention::Status()> job,
             std::function<void(attention::Status)> done) {
    push({true, "", answering(file, std::move(job), std::move(done))});
  }
  /// Writes data that the program keeps between runs. If several writes of one file are waiting, only the
  /// last is done. Its outcome is not reported.
  void keep(const std::filesystem::path& file, std::function<attention::Status()> job);

  /// Delivers the available answers in order. Returns whether there were any.
  bool take();

  /// Returns the token that stop() triggers, for long reads.
  std::stop_token stopToken() const { return stopReads_.get_token(); }

  /// Without threads, runs the next job on the calling thread and returns true if there was one. Does nothing
  /// while an earlier call is still inside its job.
  bool work();
  /// Whether a job is running.
  bool working() const;
  /// Whether any job is waiting or running, or any answer can be taken.
  bool busy() const;
  /// Whether any write is unfinished.
  bool writesPending() const;
  /// Blocks until every answer can be taken. For tests and headless rendering; never call it in the window.
  void finish();

  /// For quitting: drops waiting reads, requests a stop from those that check stopToken(), and accepts no
  /// more jobs. Writes continue even if a read hangs.
  void stop();
  /// Waits up to `within` for all jobs to end after stop(). Returns whether they did.
  bool stopped(std::chrono::milliseconds within);

 private:
  using Answer = std::function<void()>;
  struct Job {
    bool writes = false;
    std::filesystem::path kept;   ///< the file of a keep(); "" for other jobs
    std::function<Answer()> run;  ///< does not throw
  };

  template <typename T>
  static std::function<Answer()> answering(const std::filesystem::path& file,
                                           std::function<attention::Result<T>()> job,
                                           std::function<void(attention::Result<T>)> done) {
    return [name = attention::shownPath(file.filename()), job = std::move(job),
            done = std::move(done)]() -> Answer {
      auto result = std::make_shared<attention::Result<T>>(attention::Error{});
      try {
        *result = job();
      } catch (...) {
        *result = caughtError(name);
      }
      return [result, done] { done(std::move(*result)); };
    };
  }
  void push(Job job);
  void serve(std::stop_token quit);
  void runNext(std::unique_lock<std::mutex>& lock);
  bool idle() const { return waiting_.empty() && reading_ + writing_ == 0; }

  const std::function<void()> wake_;
  mutable std::mutex mutex_;  ///< guards everything below
  std::condition_variable_any changed_;
  std::deque<Job> waiting_;
  std::deque<Answer> answers_;
  int reading_ = 0, writing_ = 0;  ///< running; more than one only after stop()
  bool stopping_ = false;
  std::stop_source stopReads_;
  std::vector<std::jthread> threads_;  // last member: destroyed first, so that its threads end
};

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
