#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "app/compute/file_job.h"

namespace headscope::app {

/// Reads and writes files on a thread of its own, in the order they were asked for. Every read is answered,
/// every write finished and reported. All members may be called from any thread.
class FileQueue {
 public:
  using Work = std::function<FileAnswer(const FileRequest&)>;

  /// `wake` is called on the queue's thread after each answer. What `work` throws is an answer with an error.
  explicit FileQueue(std::function<void()> wake, Work work = readRequested);
  /// Finishes what is written and waits for what is being read.
  ~FileQueue();

  void ask(FileRequest request);
  /// The oldest answer that was not taken yet, if there is one.
  std::optional<FileAnswer> take();

  /// Whether something waits, is under way, or was not taken yet.
  bool busy() const;
  /// Whether something that is to be written is not yet.
  bool writesPending() const;
  /// Blocks until everything asked for is answered. For tests and headless rendering, never for the window.
  void finish();

  /// For quitting: drops the reads that wait and takes nothing more. Writes go on, also when a read hangs.
  void stop();
  /// Whether, after stop(), nothing is under way any more `within` that time.
  bool stopped(std::chrono::milliseconds within);

 private:
  void serve(std::stop_token quit);
  bool idle() const { return waiting_.empty() && reading_ + writing_ == 0; }

  const std::function<void()> wake_;
  const Work work_;
  mutable std::mutex mutex_;  ///< guards everything below
  std::condition_variable_any changed_;
  std::deque<FileRequest> waiting_;
  std::deque<FileAnswer> answers_;
  int reading_ = 0, writing_ = 0;  ///< under way; more than one only after stop()
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // last: they end before what they touch goes
};

}  // namespace headscope::app
