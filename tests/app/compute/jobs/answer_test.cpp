#include "app/compute/jobs/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>

#include "tests/app/compute/jobs/held_work.h"

namespace headscope::test {
namespace {

using namespace app;
using namespace std::chrono_literals;
using attention::Result;
using Ints = Answer<int, int>;

Ints::Compute through(HeldWork& held) {
  return [&held](int request, std::stop_token stop) { return held(request, stop); };
}
Result<int> tenTimes(int request, std::stop_token) {
  return 10 * request;
}
int valueOf(const Ints& answer) {
  const auto current = answer.current();
  return current && current->value.ok() ? *current->value : -1;
}

/// An answer whose work starts and then waits until the test releases it.
class HeldAnswer : public testing::Test {
 protected:
  void begin(int request) {
    answer.ask(request, Lane::front);
    held.waitForBegun(static_cast<std::size_t>(request));
  }
  void finish() {
    held.open();
    workers.finish();
  }
  void showOneAndBeginTwo() {
    begin(1);
    finish();
    held.open(false);
    begin(2);
  }

  HeldWork held;
  Workers workers{[] {}};
  Ints answer{workers, through(held)};
};

TEST(Answer, CarriesItsRequest) {
  Workers workers([] {});
  Ints answer(workers, tenTimes);
  EXPECT_EQ(answer.current(), nullptr) << "nothing before the first";
  EXPECT_EQ(answer.busySeconds(), 0);
  EXPECT_FALSE(answer.upToDate(4));
  answer.ask(4, Lane::front);
  workers.finish();
  ASSERT_NE(answer.current(), nullptr);
  EXPECT_EQ(answer.current()->request, 4);
  EXPECT_EQ(valueOf(answer), 40);
  EXPECT_TRUE(answer.upToDate(4));
  EXPECT_FALSE(answer.upToDate(5));
  EXPECT_EQ(answer.busySeconds(), 0);
}

TEST(Answer, ForgetReleasesAnswerAndRequest) {
  Workers workers([] {});
  Answer<std::shared_ptr<int>, int> answer(
      workers, [](const std::shared_ptr<int>& of, std::stop_token) { return attention::Result<int>(*of); });
  auto held = std::make_shared<int>(7);
  const std::weak_ptr<int> seen = held;
  answer.ask(std::exchange(held, nullptr), Lane::front);
  workers.finish();
  ASSERT_FALSE(seen.expired()) << "the answer carries its request";
  answer.forget();
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(answer.current(), nullptr);
  answer.ask(std::make_shared<int>(8), Lane::front);
  workers.finish();
  ASSERT_NE(answer.current(), nullptr);
  EXPECT_EQ(*answer.current()->value, 8);
}

TEST_F(HeldAnswer, ComputesOnlyNewestWaitingRequest) {
  begin(1);
  for (int request = 2; request <= 50; ++request) answer.ask(request, Lane::front);
  finish();
  EXPECT_EQ(valueOf(answer), 500);
  EXPECT_EQ(held.begun(), (std::vector<int>{1, 50})) << "those in between were never begun";
  EXPECT_TRUE(held.stopped().empty()) << "short work is finished";
}

TEST(Answer, ShowsShortWorkDespiteNewerRequest) {
  HeldWork held;
  std::vector<int> shown;
  Ints* asked = nullptr;
  Workers workers([&] { shown.push_back(valueOf(*asked)); });
  Ints answer(workers, through(held));
  asked = &answer;
  answer.ask(1, Lane::front);
  held.waitForBegun(1);
  answer.ask(2, Lane::front);
  held.open();
  workers.finish();
  EXPECT_EQ(shown, (std::vector<int>{10, 20})) << "each wake finds its answer there";
}

// Regression: newer work requested just after older work began had to wait until the older work was done.
TEST_F(HeldAnswer, StopsWorkThatKeepsNewerRequestWaiting) {
  begin(1);
  answer.ask(2, Lane::front);  // the only request, within the first milliseconds
  held.waitForStopped(1);
  finish();
  EXPECT_EQ(held.begun(), (std::vector<int>{1, 2}));
  EXPECT_EQ(held.stopped(), std::vector<int>{1});
  EXPECT_EQ(valueOf(answer), 20);
}

TEST_F(HeldAnswer, ReplacingRequestsDoesNotResetPatience) {
  begin(1);
  int request = 2;
  while (held.stopped().empty()) {  // a slider in constant motion; would loop forever if each request
                                    // restarted the wait
    answer.ask(request++, Lane::front);
    std::this_thread::sleep_for(1ms);
  }
  finish();
  EXPECT_EQ(held.stopped(), std::vector<int>{1});
}

TEST(Answer, RepeatedRequestsComputeOnce) {
  HeldWork held;
  std::atomic<int> wakes = 0;
  Workers workers([&] { ++wakes; });
  Ints answer(workers, through(held));
  answer.ask(1, Lane::front);
  held.waitForBegun(1);
  for (int i = 0; i < 10; ++i) answer.ask(1, Lane::front);
  answer.ask(2, Lane::front);
  answer.ask(2, Lane::front);
  answer.ask(1, Lane::front);  // withdrawn: request 1 is already running
  held.open();
  workers.finish();
  for (int i = 0; i < 10; ++i) answer.ask(1, Lane::front);
  workers.finish();
  EXPECT_EQ(held.begun(), std::vector<int>{1});
  EXPECT_EQ(wakes, 1);
}

TEST_F(HeldAnswer, RequestingShownAnswerStopsRunningWork) {
  showOneAndBeginTwo();
  answer.ask(1, Lane::front);
  EXPECT_EQ(answer.busySeconds(), 0);
  workers.finish();
  EXPECT_EQ(held.stopped(), std::vector<int>{2});
  EXPECT_EQ(valueOf(answer), 10);
}

TEST(Answer, RestartsWorkStoppedForAWithdrawnRequest) {
  std::promise<void> stopped, goOn;
  std::atomic<int> calls = 0;
  Workers workers([] {});
  Ints answer(workers, [&](int request, std::stop_token stop) -> Result<int> {
    if (request == 1 && ++calls == 1) {
      while (!stop.stop_requested()) std::this_thread::yield();
      stopped.set_value();
      goOn.get_future().wait();
    }
    return 10 * request;
  });
  answer.ask(1, Lane::front);
  while (calls == 0) std::this_thread::yield();
  answer.ask(2, Lane::front);
  stopped.get_future().wait();
  answer.ask(1, Lane::front);  // while its first run winds down
  goOn.set_value();
  workers.finish();
  EXPECT_EQ(valueOf(answer), 10);
  EXPECT_EQ(calls, 2);
}

TEST_F(HeldAnswer, CancelDropsWorkAndKeepsAnswer) {
  showOneAndBeginTwo();
  answer.ask(3, Lane::front);
  answer.cancel();
  EXPECT_EQ(answer.busySeconds(), 0);
  workers.finish();
  EXPECT_EQ(valueOf(answer), 10) << "what was stopped is incomplete and must not be shown";
  EXPECT_EQ(held.begun(), (std::vector<int>{1, 2}));
  EXPECT_EQ(held.stopped(), std::vector<int>{2});
  held.open();
  answer.ask(4, Lane::front);
  workers.finish();
  EXPECT_EQ(valueOf(answer), 40) << "it goes on working";
}

TEST_F(HeldAnswer, CancelledRequestCanBeRepeatedAtOnce) {
  begin(1);
  answer.cancel();
  answer.ask(1, Lane::front);
  finish();
  EXPECT_TRUE(answer.upToDate(1));
}

TEST_F(HeldAnswer, BusySecondsCountFromOldestUnansweredRequest) {
  begin(1);
  const auto asked = std::chrono::steady_clock::now();
  answer.ask(2, Lane::front);
  held.waitForStopped(1);  // the first was never answered, so the user is still waiting for it
  held.waitForBegun(2);
  const std::chrono::duration<double> since = std::chrono::steady_clock::now() - asked;
  EXPECT_GE(answer.busySeconds(), since.count());
  finish();
  EXPECT_EQ(answer.busySeconds(), 0);
}

TEST(Answer, TurnsExceptionsIntoErrorsAndContinues) {
  Workers workers([] {});
  Ints answer(workers, [](int request, std::stop_token) -> Result<int> {
    if (request == 1) throw std::bad_alloc();
    if (request == 2) throw std::runtime_error("two is odd");
    if (request == 3) throw 3;
    if (request == 4) return attention::Error{"four is refused"};
    return 10 * request;
  });
  const auto errorOf = [&](int request) {
    answer.ask(request, Lane::back);
    workers.finish();
    const auto current = answer.current();
    EXPECT_EQ(current->request, request);
    return current->value.ok() ? "" : current->value.error().message;
  };
  EXPECT_THAT(errorOf(1), testing::HasSubstr("not enough free memory"));
  EXPECT_THAT(errorOf(2), testing::HasSubstr("two is odd"));
  EXPECT_THAT(errorOf(3), testing::HasSubstr("can't be computed"));
  EXPECT_EQ(errorOf(4), "four is refused");
  EXPECT_EQ(errorOf(5), "");
  EXPECT_EQ(valueOf(answer), 50);
}

TEST(Answer, DestructionStopsRunningAndWaitingWork) {
  HeldWork held;
  Workers workers([] {});
  Ints waiting(workers, tenTimes);
  {
    Ints answer(workers, through(held));
    answer.ask(1, Lane::front);
    held.waitForBegun(1);
    answer.ask(2, Lane::front);
  }
  EXPECT_EQ(held.stopped(), std::vector<int>{1}) << "it was asked to stop, not waited out";
  EXPECT_EQ(held.begun(), std::vector<int>{1});
  waiting.ask(3, Lane::front);
  workers.finish();
  EXPECT_EQ(valueOf(waiting), 30) << "the lane goes on";
}

TEST(Answer, ConcurrentCallersEndWithALastRequest) {
  constexpr int kThreads = 4, kRequests = 500;
  Workers workers([] {});
  Ints answer(workers, [](int request, std::stop_token) -> Result<int> { return request; });
  std::vector<std::future<void>> askers;
  for (int thread = 0; thread < kThreads; ++thread)
    askers.push_back(std::async(std::launch::async, [&answer, thread] {
      for (int i = 0; i < kRequests; ++i)
        answer.ask(thread * kRequests + i, i % 3 == 0 ? Lane::back : Lane::front);
    }));
  for (auto& requester : askers) requester.get();
  workers.finish();
  EXPECT_EQ(valueOf(answer) % kRequests, kRequests - 1) << "the last request of all was some thread's last";
}

}  // namespace
}  // namespace headscope::test
