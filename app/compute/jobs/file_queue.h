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

/// Reads and writes files on a thread of its own, in the order they were asked for. Every job is answered on
/// the thread that takes the answers, whatever is asked for meanwhile, and every write is finished.
class FileQueue {
 public:
  /// `wake` is called on the queue's thread after each answer.
  /// Without `threads`, work() does the jobs.
  explicit FileQueue(std::function<void()> wake, bool threads = attention::kHasThreads);
  /// Finishes what is written and waits for what is being read.
  ~FileQueue();

  /// `job` runs on the queue's thread; `done` gets what it returned. What `job` throws is an error that names
  /// the file. An answer that changes a document is for the one that asked (Asker).
  template <typename T>
  void read(const std::filesystem::path& file, std::function<attention::Result<T>()> job,
            std::function<void(attention::Result<T>)> done) {
    push({false, "", answering(file, std::move(job), std::move(done))});
  }
  /// The same for a file that is written: leaving the program waits for it.
  void write(const std::filesystem::path& file, std::function<attention::Status()> job,
             std::function<void(attention::Status)> done) {
    push({true, "", answering(file, std::move(job), std::move(done))});
  }
  /// Writes what the program keeps from one start to the next. Of several writes of one file that wait, only
  /// the last is done, and nobody is told how it went.
  void keep(const std::filesystem::path& file, std::function<attention::Status()> job);

  /// Hands out the answers that have come, in order; whether there were any.
  bool take();

  /// Requested by stop(): for reads that take long.
  std::stop_token stopToken() const { return stopReads_.get_token(); }

  /// Where there are no threads, does the next job on the calling thread; whether there was one. Nothing is
  /// done while an earlier call rests inside its job.
  bool work();
  /// Whether a job is under way.
  bool working() const;
  /// Whether anything waits, is under way or can be taken.
  bool busy() const;
  /// Whether something that is to be written is not yet.
  bool writesPending() const;
  /// Blocks until everything asked for can be taken. For tests and headless rendering, never for the window.
  void finish();

  /// For quitting: drops the reads that wait, ends those that look at stopToken(), and takes nothing more.
  /// Writes go on, also when a read hangs.
  void stop();
  /// Whether, after stop(), nothing is under way any more `within` that time.
  bool stopped(std::chrono::milliseconds within);

 private:
  using Answer = std::function<void()>;
  struct Job {
    bool writes = false;
    std::filesystem::path kept;   ///< whose write a newer one replaces; "" = none does
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
  int reading_ = 0, writing_ = 0;  ///< under way; more than one only after stop()
  bool stopping_ = false;
  std::stop_source stopReads_;
  std::vector<std::jthread> threads_;  // last: they end before what they touch goes
};

}  // namespace headscope::app
