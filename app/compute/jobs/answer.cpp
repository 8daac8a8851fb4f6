#include "app/compute/jobs/answer.h"

#include <exception>
#include <new>

#include "attention/core/parallel.h"

namespace headscope::app {

attention::Error caughtError(const std::string& what) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {what + ": there is not enough free memory"};
  } catch (const std::exception& broken) {
    return {what + ": " + broken.what()};
  } catch (...) {
    return {what + ": unknown reason"};
  }
}

Workers::Workers(std::function<void()> wake, std::function<void()> releaseIdle, bool threads)
    : wake_(std::move(wake)), releaseIdle_(std::move(releaseIdle)) {
  if (!threads) return;
  for (const Lane lane : {Lane::front, Lane::back})
    threads_.emplace_back([this, lane](std::stop_token quit) { serve(lane, quit); });
  threads_.emplace_back([this](std::stop_token quit) { watch(quit); });
}

Workers::~Workers() {
  stop();
}

bool Workers::idle() const {
  return std::none_of(jobs_.begin(), jobs_.end(),
                      [](const Job* job) { return job->waiting_ || job->running_; });
}

void Workers::finish() {
  while (work()) {
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return idle(); });
}

bool Workers::busy() {
  const std::lock_guard lock(mutex_);
  return !idle();
}

void Workers::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (Job* const job : jobs_) {
    job->waiting_.reset();
    job->stop_.request_stop();
  }
  noteChange();
}

bool Workers::finished(std::chrono::milliseconds within) {
  const auto end = Clock::now() + within;
  while (Clock::now() < end && work()) {
  }
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, within, [this] { return idle(); });
}

/// Returns the job that was started first. A job whose work still runs on the other lane has to wait for it.
Workers::Job* Workers::next(Lane lane) const {
  Job* first = nullptr;
  for (Job* const job : jobs_)
    if (job->waiting_ == lane && !job->running_ && (!first || job->ticket_ < first->ticket_)) first = job;
  return first;
}

bool Workers::runs(Lane lane) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [lane](const Job* job) { return job->running_ == lane; });
}

void Workers::serve(Lane lane, std::stop_token quit) {
  std::optional<attention::BackgroundThread> background;
  if (lane == Lane::back) background.emplace();
  std::unique_lock lock(mutex_);
  while (true) {
    Job* job = nullptr;
    if (!changed_.wait(lock, quit, [&] { return (job = next(lane)) != nullptr; })) return;
    runNext(*job, lane, lock);
  }
}

/// Releases the lock while the work runs.
void Workers::runNext(Job& job, Lane lane, std::unique_lock<std::mutex>& lock) {
  job.waiting_.reset();
  job.running_ = lane;
  job.stop_ = {};
  const std::stop_token stop = job.stop_.get_token();
  lock.unlock();
  {
    std::optional<attention::ForegroundWork> foreground;
    if (lane == Lane::front) foreground.emplace();
    job.work_(stop);
  }
  wake_();
  lock.lock();
  job.running_.reset();
  if (idle()) idleSince_ = Clock::now();
  noteChange();
}

bool Workers::work() {
  if (!threads_.empty()) return false;
  std::unique_lock lock(mutex_);
  endPatience();
  for (const Lane lane : {Lane::front, Lane::back}) {
    if (runs(lane)) return false;
    if (Job* const job = next(lane)) {
      runNext(*job, lane, lock);
      return true;
    }
  }
  releaseWhenIdle(lock);
  return false;
}

std::optional<Workers::Clock::time_point> Workers::endPatience() {
  std::optional<Clock::time_point> next;
  const auto now = Clock::now();
  for (Job* const job : jobs_) {
    if (!job->running_ || !job->waiting_ || !job->patience_ || job->stop_.stop_requested()) continue;
    const auto end = job->waitingSince_ + *job->patience_;
    if (end <= now)
      job->stop_.request_stop();
    else
      next = next ? std::min(*next, end) : end;
  }
  return next;
}

std::optional<Workers::Clock::time_point> Workers::releaseWhenIdle(std::unique_lock<std::mutex>& lock) {
  if (!idleSince_ || !releaseIdle_ || !idle()) return std::nullopt;
  const auto end = *idleSince_ + kUntilIdle;
  if (end > Clock::now()) return end;
  idleSince_.reset();
  lock.unlock();
  releaseIdle_();
  lock.lock();
  return std::nullopt;
}

void Workers::watch(std::stop_token quit) {
  std::unique_lock lock(mutex_);
  while (!quit.stop_requested()) {
    const std::uint64_t seen = changes_;
    std::optional<Clock::time_point> again = endPatience();
    if (!again) again = releaseWhenIdle(lock);
    const auto changed = [&] { return changes_ != seen; };
    if (again)
      changed_.wait_until(lock, quit, *again, changed);
    else
      changed_.wait(lock, quit, changed);
  }
}

void Workers::noteChange() {
  ++changes_;
  changed_.notify_all();
}

Workers::Job::Job(Workers& workers, Work work, std::optional<std::chrono::milliseconds> patience)
    : workers_(workers), work_(std::move(work)), patience_(patience) {
  const std::lock_guard lock(workers_.mutex_);
  workers_.jobs_.push_back(this);
}

Workers::Job::~Job() {
  std::unique_lock lock(workers_.mutex_);
  waiting_.reset();
  stop_.request_stop();
  workers_.noteChange();
  workers_.changed_.wait(lock, [this] { return !running_; });
  std::erase(workers_.jobs_, this);
}

void Workers::Job::start(Lane lane) {
  const std::lock_guard lock(workers_.mutex_);
  if (workers_.stopping_) return;
  if (!waiting_) {
    ticket_ = ++workers_.tickets_;
    waitingSince_ = Clock::now();
  }
  waiting_ = lane;
  workers_.noteChange();
}

void Workers::Job::drop() {
  const std::lock_guard lock(workers_.mutex_);
  waiting_.reset();
  workers_.noteChange();
}

void Workers::Job::stop() {
  const std::lock_guard lock(workers_.mutex_);
  if (running_) stop_.request_stop();
}

}  // namespace headscope::app
