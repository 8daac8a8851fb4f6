#include "app/compute/file_queue.h"

#include <algorithm>
#include <utility>

#include "app/compute/caught_error.h"

namespace headscope::app {

FileQueue::FileQueue(std::function<void()> wake, Work work) : wake_(std::move(wake)), work_(std::move(work)) {
  threads_.emplace_back([this](std::stop_token quit) { serve(quit); });
}

FileQueue::~FileQueue() {
  stop();
}

void FileQueue::ask(FileRequest request) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(request));
  changed_.notify_all();
}

std::optional<FileAnswer> FileQueue::take() {
  const std::lock_guard lock(mutex_);
  if (answers_.empty()) return std::nullopt;
  std::optional<FileAnswer> answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

bool FileQueue::busy() const {
  const std::lock_guard lock(mutex_);
  return !idle() || !answers_.empty();
}

bool FileQueue::writesPending() const {
  const std::lock_guard lock(mutex_);
  return writing_ > 0 || std::any_of(waiting_.begin(), waiting_.end(), writes);
}

void FileQueue::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return idle(); });
}

void FileQueue::stop() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(stopping_, true)) return;
  std::erase_if(waiting_, [](const FileRequest& request) { return !writes(request); });
  // A read of a slow disk may not come back for long, and what is to be written can't wait for it.
  if (reading_ > 0 && !waiting_.empty()) threads_.emplace_back([this](std::stop_token quit) { serve(quit); });
  changed_.notify_all();
}

bool FileQueue::stopped(std::chrono::milliseconds within) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [this] { return idle(); });
}

void FileQueue::serve(std::stop_token quit) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, quit, [this] { return !waiting_.empty(); });
    if (waiting_.empty()) return;
    FileAnswer answer;
    answer.request = std::move(waiting_.front());
    waiting_.pop_front();
    int& underWay = writes(answer.request) ? writing_ : reading_;
    ++underWay;
    lock.unlock();
    try {
      answer.content = work_(answer.request).content;
    } catch (...) {
      answer.content = caughtError(answer.request.path.filename().string());
    }
    lock.lock();
    answers_.push_back(std::move(answer));
    lock.unlock();
    wake_();
    lock.lock();
    --underWay;
    changed_.notify_all();
  }
}

}  // namespace headscope::app
