#include "app/compute/latest_job.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <vector>

namespace headscope::app {
namespace {

using Job = LatestJob<int, int>;

/// A computation that the test holds back: it says that it began, and ends when it is let go or told to stop.
class Held {
 public:
  int operator()(int request, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    begun_.push_back(request);
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return open_; });
    if (stop.stop_requested()) stopped_.push_back(request);
    return 10 * request;
  }
  void waitFor(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_.size() >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  std::vector<int> begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  std::vector<int> stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<int> begun_, stopped_;
  bool open_ = false;
};

auto through(Held& held) {
  return [&held](int request, std::stop_token stop) { return held(request, stop); };
}

TEST(LatestJob, AnswersARequest) {
  Job job([](int request, std::stop_token) { return 2 * request; }, [] {});
  EXPECT_EQ(job.latest(), nullptr) << "nothing before the first";
  EXPECT_EQ(job.busySeconds(), 0);
  job.submit(21);
  job.finish();
  ASSERT_NE(job.latest(), nullptr);
  EXPECT_EQ(*job.latest(), 42);
  EXPECT_EQ(job.busySeconds(), 0);
}

TEST(LatestJob, FinishWithoutARequestReturnsAtOnce) {
  const Job job([](int request, std::stop_token) { return request; }, [] {});
  job.finish();
  EXPECT_EQ(job.latest(), nullptr);
}

TEST(LatestJob, OfManyWaitingRequestsOnlyTheNewestIsComputed) {
  Held held;
  Job job(through(held), [] {});
  job.submit(1);
  held.waitFor(1);
  for (int request = 2; request <= 50; ++request) job.submit(request);
  held.open();
  job.finish();
  EXPECT_EQ(*job.latest(), 500);
  EXPECT_EQ(held.begun(), (std::vector<int>{1, 50})) << "those in between were never begun";
}

TEST(LatestJob, AnOldResultStaysWhileTheNextIsComputed) {
  std::atomic<bool> hold = false;
  Held held;
  Job job([&](int request, std::stop_token stop) { return hold ? held(request, stop) : request; }, [] {});
  job.submit(3);
  job.finish();
  hold = true;
  job.submit(4);
  held.waitFor(1);
  EXPECT_EQ(*job.latest(), 3);
  EXPECT_GT(job.busySeconds(), 0);
  held.open();
  job.finish();
  EXPECT_EQ(*job.latest(), 40);
}

TEST(LatestJob, CancelStopsWhatRunsDropsWhatWaitsAndKeepsTheResult) {
  std::atomic<bool> hold = false;
  Held held;
  Job job([&](int request, std::stop_token stop) { return hold ? held(request, stop) : request; }, [] {});
  job.submit(1);
  job.finish();
  hold = true;
  job.submit(2);
  held.waitFor(1);
  job.submit(3);
  job.cancel();
  job.finish();
  EXPECT_EQ(*job.latest(), 1) << "what was stopped is incomplete and must not be shown";
  EXPECT_EQ(held.begun(), std::vector<int>{2});
  EXPECT_EQ(held.stopped(), std::vector<int>{2});
  hold = false;
  job.submit(4);
  job.finish();
  EXPECT_EQ(*job.latest(), 4) << "it goes on working";
}

TEST(LatestJob, ALongComputationIsToldToStopWhenANewerRequestComes) {
  Held held;
  std::atomic<bool> hold = true;
  Job job([&](int request, std::stop_token stop) { return hold ? held(request, stop) : request; }, [] {});
  job.submit(1);
  held.waitFor(1);
  // Held for ever: once its patience is over, the next request ends it. How long that is, is not asserted.
  while (held.stopped().empty()) {
    job.submit(2);
    hold = false;
    std::this_thread::yield();
  }
  job.finish();
  EXPECT_EQ(*job.latest(), 2);
}

TEST(LatestJob, WakesAfterEachResultWithTheResultThere) {
  std::mutex mutex;
  std::vector<int> seen;
  std::unique_ptr<Job> job;
  const auto wake = [&] {
    const std::lock_guard lock(mutex);
    seen.push_back(job->latest() ? *job->latest() : -1);
  };
  job = std::make_unique<Job>([](int request, std::stop_token) { return request; }, wake);
  for (int request = 1; request <= 3; ++request) {
    job->submit(request);
    job->finish();
    // finish() may return just before the worker wakes; the next round or the end waits for it.
    for (;;) {
      const std::lock_guard lock(mutex);
      if (seen.size() == static_cast<std::size_t>(request)) break;
    }
  }
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

TEST(LatestJob, ComputesAwayFromTheCallersThread) {
  std::thread::id worker;
  Job job(
      [&](int request, std::stop_token) {
        worker = std::this_thread::get_id();
        return request;
      },
      [] {});
  job.submit(1);
  job.finish();
  EXPECT_NE(worker, std::this_thread::get_id());
}

TEST(LatestJob, EndsWhileSomethingRunsAndSomethingWaits) {
  Held held;
  {
    Job job(through(held), [] {});
    job.submit(1);
    held.waitFor(1);
    job.submit(2);
  }
  EXPECT_EQ(held.stopped(), std::vector<int>{1}) << "it was asked to stop, not waited out";
  EXPECT_EQ(held.begun(), std::vector<int>{1});
}

TEST(LatestJob, EndsWithoutEverHavingWorked) {
  const Job job([](int request, std::stop_token) { return request; }, [] {});
}

TEST(LatestJob, ManySubmittersEndWithOneOfTheLastRequests) {
  constexpr int kThreads = 4, kRequests = 500;
  Job job([](int request, std::stop_token) { return request; }, [] {});
  std::vector<std::future<void>> submitters;
  for (int thread = 0; thread < kThreads; ++thread)
    submitters.push_back(std::async(std::launch::async, [&job, thread] {
      for (int i = 0; i < kRequests; ++i) job.submit(thread * kRequests + i);
    }));
  for (auto& submitter : submitters) submitter.get();
  job.finish();
  EXPECT_EQ(*job.latest() % kRequests, kRequests - 1) << "the last request of all was some thread's last";
}

}  // namespace
}  // namespace headscope::app
