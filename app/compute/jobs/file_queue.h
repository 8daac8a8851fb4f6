#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "app/compute/jobs/caught_error.h"
#include "attention/core/threads.h"
#include "attention/formats/files/regular_file.h"

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

}  // namespace headscope::app
