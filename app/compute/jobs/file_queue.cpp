#include "app/compute/jobs/file_queue.h"

#include <algorithm>
#include <utility>

namespace headscope::app {

FileQueue::FileQueue(std::function<void()> wake, bool threads) : wake_(std::move(wake)) {
  if (threads) threads_.emplace_back([this](std::stop_token quit) { serve(quit); });
}

FileQueue::~FileQueue() {
  stop();
  while (work()) {
  }
}

void FileQueue::push(Job job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(job));
  changed_.notify_all();
}

void FileQueue::keep(const std::filesystem::path& file, std::function<attention::Status()> job) {
  Job kept{true, file, answering<std::monostate>(file, std::move(job), [](const attention::Status&) {})};
  {
    const std::lock_guard lock(mutex_);
    for (Job& waiting : waiting_)
      if (!waiting.kept.empty() && waiting.kept == file) {
        waiting.run = std::move(kept.run);
        return;
      }
  }
  push(std::move(kept));
}

bool FileQueue::take() {
  std::deque<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (const Answer& answer : answers) answer();
  return !answers.empty();
}

bool FileQueue::busy() const {
  const std::lock_guard lock(mutex_);
  return !idle() || !answers_.empty();
}

bool FileQueue::writesPending() const {
  const std::lock_guard lock(mutex_);
  return writing_ > 0 ||
         std::any_of(waiting_.begin(), waiting_.end(), [](const Job& job) { return job.writes; });
}

void FileQueue::finish() {
  while (work()) {
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return idle(); });
}

void FileQueue::stop() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(stopping_, true)) return;
  stopReads_.request_stop();
  std::erase_if(waiting_, [](const Job& job) { return !job.writes; });
  // A read from a slow disk may take long, and pending writes must not wait for it.
  if (reading_ > 0 && !waiting_.empty() && !threads_.empty())
    threads_.emplace_back([this](std::stop_token quit) { serve(quit); });
  changed_.notify_all();
}

bool FileQueue::stopped(std::chrono::milliseconds within) {
  while (work()) {
  }
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [this] { return idle(); });
}

void FileQueue::serve(std::stop_token quit) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, quit, [this] { return !waiting_.empty(); });
    if (waiting_.empty()) return;
    runNext(lock);
  }
}

/// Releases the lock while the job runs.
void FileQueue::runNext(std::unique_lock<std::mutex>& lock) {
  const Job job = std::move(waiting_.front());
  waiting_.pop_front();
  int& underWay = job.writes ? writing_ : reading_;
  ++underWay;
  lock.unlock();
  Answer answer = job.run();
  lock.lock();
  answers_.push_back(std::move(answer));
  lock.unlock();
  wake_();
  lock.lock();
  --underWay;
  changed_.notify_all();
}

bool FileQueue::working() const {
  const std::lock_guard lock(mutex_);
  return reading_ + writing_ > 0;
}

bool FileQueue::work() {
  if (!threads_.empty()) return false;
  std::unique_lock lock(mutex_);
  if (waiting_.empty() || reading_ + writing_ > 0) return false;
  runNext(lock);
  return true;
}

}  // namespace headscope::app
