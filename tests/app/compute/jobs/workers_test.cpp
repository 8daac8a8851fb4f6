#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

#include "app/compute/jobs/answer.h"
#include "tests/app/compute/jobs/held_work.h"

namespace headscope::test {
namespace {

using namespace app;
using namespace std::chrono_literals;
using Ints = Answer<int, int>;

Ints::Compute heldBy(HeldWork& held) {
  return [&held](int request, std::stop_token stop) { return held(request, stop); };
}

TEST(Workers, FinishWithoutWorkReturnsAtOnce) {
  Workers workers([] {});
  workers.finish();
}

TEST(Workers, FrontLaneDoesNotWaitForBackLane) {
  HeldWork held;
  Workers workers([] {});
  Ints slow(workers, heldBy(held)), quick(workers, heldBy(held));
  slow.ask(1, Lane::back);
  held.waitForBegun(1);
  quick.ask(2, Lane::front);
  held.waitForBegun(2);
  EXPECT_EQ(held.begun(), (std::vector<int>{1, 2}));
  held.open();
  workers.finish();
}

TEST(Workers, LaneServesJobsInOrder) {
  HeldWork held;
  Workers workers([] {});
  Ints first(workers, heldBy(held)), second(workers, heldBy(held)), third(workers, heldBy(held));
  first.ask(1, Lane::front);
  held.waitForBegun(1);
  second.ask(20, Lane::front);
  third.ask(30, Lane::front);
  first.ask(2, Lane::front);
  second.ask(21, Lane::front);  // a newer request keeps its question's place in the queue
  held.open();
  workers.finish();
  EXPECT_EQ(held.begun(), (std::vector<int>{1, 21, 30, 2}));
}

TEST(Workers, NeverRunsOneJobConcurrently) {
  std::atomic<int> inside = 0, most = 0;
  Workers workers([] {});
  Ints answer(workers, [&](int request, std::stop_token) -> attention::Result<int> {
    most = std::max(most.load(), ++inside);
    std::this_thread::sleep_for(100us);
    --inside;
    return request;
  });
  for (int i = 0; i < 200; ++i) {
    answer.ask(i, i % 2 == 0 ? Lane::front : Lane::back);
    if (i % 10 == 0) workers.finish();
  }
  workers.finish();
  EXPECT_EQ(most, 1);
}

TEST(Workers, WaitingWorkMovesToRequestedLane) {
  HeldWork held;
  Workers workers([] {});
  Ints slow(workers, heldBy(held)), answer(workers, heldBy(held));
  slow.ask(1, Lane::back);
  held.waitForBegun(1);
  answer.ask(2, Lane::back);   // waits
  answer.ask(2, Lane::front);  // is needed for the screen now
  held.waitForBegun(2);
  held.open();
  workers.finish();
  EXPECT_EQ(held.begun(), (std::vector<int>{1, 2}));
}

TEST(Workers, OtherJobsRunBetweenPieces) {
  HeldWork held;
  Workers workers([] {});
  std::string order;
  int left = 3;
  Workers::Job* self = nullptr;
  Workers::Job pieces(workers, [&](std::stop_token) {
    order += 'p';
    if (left == 3) held(0, {});
    if (--left > 0) self->start(Lane::back);
  });
  self = &pieces;
  Workers::Job other(workers, [&](std::stop_token) { order += 'o'; });
  pieces.start(Lane::back);
  held.waitForBegun(1);
  other.start(Lane::back);
  held.open();
  workers.finish();
  EXPECT_EQ(order, "popp");
}

TEST(Workers, JobWithoutPatienceNeverTimesOut) {
  std::atomic<int> stopped = 0, begun = 0;
  Workers workers([] {});
  Workers::Job job(
      workers,
      [&](std::stop_token stop) {
        if (++begun == 1) std::this_thread::sleep_for(Workers::kTimeout + 100ms);
        stopped += stop.stop_requested();
      },
      std::nullopt);
  job.start(Lane::back);
  while (begun == 0) std::this_thread::yield();
  job.start(Lane::back);
  workers.finish();
  EXPECT_EQ(begun, 2);
  EXPECT_EQ(stopped, 0);
}

TEST(Workers, RunsLanesOnTheirOwnThreads) {
  std::thread::id front, back;
  Workers workers([] {});
  Workers::Job one(workers, [&](std::stop_token) { front = std::this_thread::get_id(); });
  Workers::Job two(workers, [&](std::stop_token) { back = std::this_thread::get_id(); });
  one.start(Lane::front);
  two.start(Lane::back);
  workers.finish();
  EXPECT_NE(front, std::this_thread::get_id());
  EXPECT_NE(back, std::this_thread::get_id());
  EXPECT_NE(front, back);
}

TEST(Workers, StopEndsRunningAndWaitingWork) {
  HeldWork held;
  auto workers = std::make_unique<Workers>([] {});
  auto answer = std::make_unique<Ints>(*workers, heldBy(held));
  answer->ask(1, Lane::front);
  held.waitForBegun(1);
  answer->ask(2, Lane::front);
  workers->stop();
  EXPECT_TRUE(workers->finished(100s));
  EXPECT_EQ(held.stopped(), std::vector<int>{1});
  answer->ask(3, Lane::front);
  workers->finish();
  EXPECT_EQ(held.begun(), std::vector<int>{1}) << "nothing is taken after stop()";
}

TEST(Workers, ReportsWorkThatIgnoresStop) {
  std::promise<void> goOn;
  std::atomic<bool> begun = false;
  Workers workers([] {});
  Workers::Job deaf(workers, [&](std::stop_token) {
    begun = true;
    goOn.get_future().wait();
  });
  deaf.start(Lane::front);
  while (!begun) std::this_thread::yield();
  workers.stop();
  EXPECT_FALSE(workers.finished(50ms)) << "it doesn't wait for it, else this never ends";
  goOn.set_value();
  EXPECT_TRUE(workers.finished(100s));
}

TEST(Workers, ReleasesOnceWhenIdle) {
  std::atomic<int> released = 0;
  Workers workers([] {}, [&] { ++released; });
  Workers::Job job(workers, [](std::stop_token) {});
  job.start(Lane::back);
  workers.finish();
  while (released == 0) std::this_thread::sleep_for(10ms);
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(released, 1);
}

TEST(Workers, WithoutThreadsRunsFrontLaneFirst) {
  Workers workers([] {}, {}, false);
  std::vector<int> done;
  Workers::Job back(workers, [&](std::stop_token) { done.push_back(1); });
  Workers::Job front(workers, [&](std::stop_token) {
    done.push_back(2);
    if (done.size() < 3) front.start(Lane::front);
  });
  EXPECT_FALSE(workers.work());
  back.start(Lane::back);
  front.start(Lane::front);
  EXPECT_TRUE(done.empty());
  EXPECT_TRUE(workers.work());
  EXPECT_EQ(done, (std::vector<int>{2}));
  workers.finish();
  EXPECT_EQ(done, (std::vector<int>{2, 2, 2, 1}));
  EXPECT_FALSE(workers.work());
  front.start(Lane::front);
  workers.stop();
  EXPECT_FALSE(workers.busy());
}

TEST(Workers, WithoutThreadsFrontLaneInterruptsBackLane) {
  Workers workers([] {}, {}, false);
  std::string order;
  Workers::Job front(workers, [&](std::stop_token) {
    order += "f";
    EXPECT_FALSE(workers.work());
    order += "F";
  });
  Workers::Job other(workers, [&](std::stop_token) { order += "o"; });
  Workers::Job back(workers, [&](std::stop_token) {
    order += "b";
    other.start(Lane::back);
    EXPECT_FALSE(workers.work()) << "a second piece of the back lane";
    front.start(Lane::front);
    EXPECT_TRUE(workers.work());
    order += "B";
  });
  back.start(Lane::back);
  workers.finish();
  EXPECT_EQ(order, "bfFBo");
}

TEST(Workers, WithoutThreadsNewerWorkStopsItsJob) {
  Workers workers([] {}, {}, false);
  int begun = 0;
  Workers::Job* self = nullptr;
  Workers::Job job(workers, [&](std::stop_token stop) {
    if (++begun == 2) return;
    self->start(Lane::front);
    while (!stop.stop_requested()) {
      EXPECT_FALSE(workers.work());
      std::this_thread::sleep_for(10ms);
    }
  });
  self = &job;
  job.start(Lane::front);
  workers.finish();
  EXPECT_EQ(begun, 2);
}

TEST(Workers, WithThreadsLeavesNoWorkToTheCaller) {
  Workers workers([] {});
  EXPECT_FALSE(workers.work());
}

}  // namespace
}  // namespace headscope::test
