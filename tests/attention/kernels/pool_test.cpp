#include "attention/kernels/pool.h"

#include <gtest/gtest.h>

#include <atomic>
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

TEST(Pool, doesEachTaskOnce) {
  for (const int threads : {1, 2, 5}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t count : {0, 1, 2, 3, 100, 10'000})
      EXPECT_EQ(countsOf(pool, count), std::vector<int>(count, 1)) << count << " on " << threads;
  }
}

TEST(Pool, whatTasksWroteIsThereAfterwards) {
  Pool pool(4);
  std::vector<std::size_t> squares(500);
  for (std::size_t round = 0; round < 2000; ++round) {
    const std::size_t count = 1 + round % squares.size();
    ASSERT_TRUE(pool.run(count, {}, [&](std::size_t i) { squares[i] = i * i + round; }));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(squares[i], i * i + round);
  }
}

TEST(Pool, wakesAfterItSlept) {
  Pool pool(3);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(countsOf(pool, 50), std::vector<int>(50, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST(Pool, othersTakePart) {
  // The first task waits for a second one to begin: on one thread alone it never would.
  Pool pool(2);
  std::atomic<int> begun = 0;
  const bool done = pool.run(2, {}, [&](std::size_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_TRUE(done);
}

TEST(Pool, aRunInsideATaskIsDoneByItsThread) {
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

TEST(Pool, twoThreadsAskAtOnce) {
  Pool pool(3);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> askers;
    for (int asker = 0; asker < 3; ++asker)
      askers.emplace_back([&] {
        for (int round = 0; round < 300; ++round)
          if (countsOf(pool, 40) != std::vector<int>(40, 1)) ++wrong;
      });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, anExceptionIsThrownOnAndThePoolStaysUsable) {
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

TEST(Pool, aStopLeavesTheRestOut) {
  for (const int threads : {1, 4}) {
    Pool pool(threads);
    std::stop_source source;
    std::atomic<int> done = 0;
    const bool all = pool.run(100'000, source.get_token(), [&](std::size_t) {
      if (++done == 10) source.request_stop();
    });
    EXPECT_FALSE(all);
    EXPECT_GE(done, 10);
    // Another thread may have asked just before, and be in its task.
    EXPECT_LE(done, 10 + 2 * threads);
    EXPECT_FALSE(pool.run(5, source.get_token(), [&](std::size_t) { FAIL(); }));
    EXPECT_TRUE(pool.run(5, {}, [](std::size_t) {}));
  }
}

TEST(Pool, comesAndGoesWithoutWork) {
  for (int round = 0; round < 50; ++round) {
    Pool pool(4);
    if (round % 2) pool.run(3, {}, [](std::size_t) {});
  }
}

}  // namespace
}  // namespace headscope::attention::kernels::test
