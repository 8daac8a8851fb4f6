#include "attention/kernels/pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace headscope::attention::kernels::test {
namespace {

std::vector<int> countsOf(Pool& pool, std::size_t count, const std::stop_token& stop = {}) {
  std::vector<int> counts(count);
  pool.run(count, stop, [&](std::size_t i) { ++counts[i]; });
  return counts;
}

TEST(Pool, RunsEachTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t count : {0, 1, 2, 3, 100, 10'000})
      EXPECT_EQ(countsOf(pool, count), std::vector<int>(count, 1)) << count << " on " << threads;
  }
}

TEST(Pool, UsesNoMoreThreadsThanAllowedProcessors) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const int threads = Pool().threads();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(threads, 1);
  EXPECT_EQ(Pool().threads(), std::min(CPU_COUNT(&before), 16));
}

TEST(Pool, TaskResultsAreVisibleAfterRun) {
  Pool pool(4);
  std::vector<std::size_t> squares(500);
  for (std::size_t round = 0; round < 2000; ++round) {
    const std::size_t count = 1 + round % squares.size();
    ASSERT_TRUE(pool.run(count, {}, [&](std::size_t i) { squares[i] = i * i + round; }));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(squares[i], i * i + round);
  }
}

TEST(Pool, TalliesThreadWork) {
  renewSharedPool(2);
  Pool& pool = sharedPool();
  ASSERT_EQ(pool.threads(), 2);
  takePoolTally();
  // Each task waits for the other, so that both threads take part.
  std::atomic<int> begun = 0;
  pool.run(2, {}, [&](std::size_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  pool.run(1, {}, [](std::size_t) {});  // run by the calling thread alone
  const PoolTally tally = takePoolTally();
  EXPECT_EQ(tally.shared, 1u);
  ASSERT_EQ(tally.busySeconds.size(), 2u);
  for (const double seconds : tally.busySeconds) EXPECT_GT(seconds, 0);
  EXPECT_EQ(takePoolTally().shared, 0u);
  renewSharedPool(0);
}

TEST(Pool, WakesAfterSleeping) {
  Pool pool(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(countsOf(pool, 50), std::vector<int>(50, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Pool, OthersTakePart) {
  // The first task waits for a second one to start, which never happens on a single thread.
  Pool pool(2);
  std::atomic<int> begun = 0;
  const bool done = pool.run(2, {}, [&](std::size_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_TRUE(done);
}

TEST(Pool, NestedRunStaysOnItsThread) {
  Pool pool(4);
  std::atomic<int> total = 0, elsewhere = 0;
  pool.run(20, {}, [&](std::size_t) {
    const std::thread::id outer = std::this_thread::get_id();
    pool.run(30, {}, [&](std::size_t) {
      ++total;
      if (std::this_thread::get_id() != outer) ++elsewhere;
    });
  });
  EXPECT_EQ(total, 600);
  EXPECT_EQ(elsewhere, 0);
}

TEST(Pool, ServesSeveralThreadsAtOnce) {
  Pool pool(3);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> askers;
    for (int requester = 0; requester < 3; ++requester)
      askers.emplace_back([&] {
        for (int round = 0; round < 300; ++round)
          if (countsOf(pool, 40) != std::vector<int>(40, 1)) ++wrong;
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, RethrowsExceptionAndStaysUsable) {
  for (const int threads : {1, 3}) {
    Pool pool(threads);
    for (int round = 0; round < 50; ++round) {
      EXPECT_THROW(pool.run(100, {},
                            [](std::size_t i) {
                              if (i % 7 == 3) throw std::runtime_error("task");
                            }),
                   std::runtime_error);
      EXPECT_EQ(countsOf(pool, 100), std::vector<int>(100, 1));
    }
  }
}

TEST(Pool, StopSkipsRemainingTasks) {
  for (const int threads : {1, 4}) {
    Pool pool(threads);
    std::stop_source source;
    std::atomic<int> done = 0, late = 0;
    std::atomic<bool> stopped = false;
    const bool all = pool.run(100'000, source.get_token(), [&](std::size_t) {
      if (stopped) ++late;
      if (++done != 10) return;
      source.request_stop();
      stopped = true;
    });
    EXPECT_FALSE(all);
    EXPECT_GE(done, 10);
    // Each thread may have checked just before the stop, and start one more task.
    EXPECT_LE(late, threads);
    EXPECT_FALSE(pool.run(5, source.get_token(), [&](std::size_t) { FAIL(); }));
    EXPECT_TRUE(pool.run(5, {}, [](std::size_t) {}));
  }
}

TEST(Pool, IdlePoolsConstructAndDestroyCleanly) {
  for (int round = 0; round < 50; ++round) {
    Pool pool(4);
    if (round % 2) pool.run(3, {}, [](std::size_t) {});
  }
}

/// A thread that runs background work: tasks of a hundred microseconds until it is destroyed.
class Background {
 public:
  explicit Background(Pool& pool)
      : thread_([this, &pool](std::stop_token quit) {
          pool.beginBackground();
          while (!quit.stop_requested())
            pool.run(50, quit, [&](std::size_t) {
              std::this_thread::sleep_for(std::chrono::microseconds(100));
              ++done_;
            });
          pool.endBackground();
        }) {}
  int done() const { return done_; }
  void waitForMore(int tasks) const {
    for (const int from = done_; done_ < from + tasks;) std::this_thread::yield();
  }

 private:
  std::atomic<int> done_ = 0;
  std::jthread thread_;
};

TEST(Pool, BackgroundWorkWaitsForForeground) {
  for (const int threads : {1, 2, 4}) {
    Pool pool(threads);
    const Background background(pool);
    background.waitForMore(10);
    pool.beginForeground();
    // Threads that were in a task, or about to start one, finish it. None starts a second one, however long
    // this takes.
    const int most = background.done() + threads + 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LE(background.done(), most);
    EXPECT_EQ(countsOf(pool, 100), std::vector<int>(100, 1)) << "the foreground goes on";
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_LE(background.done(), most) << "and its end is not the end of all foreground work";
    pool.endForeground();
    background.waitForMore(10);
  }
}

TEST(Pool, WorkersSwitchFromBackgroundToForeground) {
  Pool pool(2);
  const Background background(pool);
  for (int round = 0; round < 20; ++round) {
    background.waitForMore(1);
    // As in OthersTakePart: without the worker this would never end.
    std::atomic<int> begun = 0;
    EXPECT_TRUE(pool.run(2, {}, [&](std::size_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    }));
  }
  background.waitForMore(100);
}

TEST(Pool, BackgroundUsesIdleWorkers) {
  Pool pool(2);
  std::atomic<int> begun = 0;
  std::jthread([&] {
    pool.beginBackground();
    pool.run(2, {}, [&](std::size_t) {
      ++begun;
      while (begun < 2) std::this_thread::yield();
    });
    pool.endBackground();
  }).join();
  EXPECT_EQ(begun, 2);
}

TEST(Pool, WaitingBackgroundWorkCanBeStopped) {
  Pool pool(2);
  pool.beginForeground();
  std::stop_source source;
  std::atomic<bool> finished = true;
  std::jthread thread([&] {
    pool.beginBackground();
    finished = pool.run(100, source.get_token(), [](std::size_t) { FAIL(); });
    pool.endBackground();
  });
  source.request_stop();
  thread.join();
  EXPECT_FALSE(finished);
  pool.endForeground();
}

TEST(Pool, MixedForegroundAndBackgroundRunEachTaskOnce) {
  Pool pool(3);
  std::atomic<int> wrong = 0;
  const auto ask = [&](bool background) {
    if (background) pool.beginBackground();
    for (int round = 0; round < 300; ++round)
      if (countsOf(pool, 40) != std::vector<int>(40, 1)) ++wrong;
    if (background) pool.endBackground();
  };
  {
    std::vector<std::jthread> askers;
    for (const bool background : {true, false, true, false}) askers.emplace_back(ask, background);
  }
  EXPECT_EQ(wrong, 0);
}

#ifndef HEADSCOPE_SANITIZE_BUILD
// Regression: under `ulimit -v` there is no memory for the stacks of so many threads, and the constructor
// threw.
TEST(Pool, HasFewerThreadsIfTheSystemRefusesMore) {
  const auto tryWithLittle = [] {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * 4096 + (rlim_t{100} << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    Pool pool(256);
    std::_Exit(countsOf(pool, 1000) == std::vector<int>(1000, 1) ? 0 : 1);
  };
  EXPECT_EXIT(tryWithLittle(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace headscope::attention::kernels::test
