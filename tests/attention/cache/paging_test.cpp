#include "attention/cache/paging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

/// No block is lost, and owners are counted correctly.
void expectConsistent(const PagedCache& cache, const std::vector<Index>& alive) {
  std::map<Index, Index> owners;
  for (const Index sequence : alive) {
    const auto& table = cache.table(sequence);
    EXPECT_EQ(static_cast<Index>(table.size()),
              (cache.tokens(sequence) + cache.blockTokens() - 1) / cache.blockTokens());
    EXPECT_EQ(std::set<Index>(table.begin(), table.end()).size(), table.size()) << "a block twice in a table";
    for (const Index block : table) ++owners[block];
  }
  for (Index block = 0; block < cache.blocks(); ++block)
    ASSERT_EQ(cache.owners(block), owners.count(block) ? owners[block] : 0) << "block " << block;
  EXPECT_EQ(cache.usedBlocks(), static_cast<Index>(owners.size()));
  EXPECT_LE(cache.storedTokens(), cache.usedBlocks() * cache.blockTokens());
}

TEST(Paging, RandomSchedulesNeverLoseOrDuplicateBlocks) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](Index n) { return static_cast<Index>(random() % static_cast<unsigned>(n)); };
    PagedCache cache(1 + below(20));
    std::vector<Index> alive;
    Index most = 0;
    for (int step = 0; step < 120; ++step) {
      const Index what = below(4);
      if (what == 0 || alive.empty()) {
        const Index of = alive.empty() ? -1 : alive[static_cast<std::size_t>(below(std::ssize(alive)))];
        const Index tokens = below(90);
        const Index shared = of < 0 || below(2) == 0 ? 0 : below(1 + std::min(tokens, cache.tokens(of)));
        alive.push_back(cache.add(tokens, shared, of));
      } else if (what == 1) {
        const auto at = alive.begin() + static_cast<std::ptrdiff_t>(below(std::ssize(alive)));
        cache.finish(*at);
        alive.erase(at);
      } else {
        cache.append(alive[static_cast<std::size_t>(below(std::ssize(alive)))], below(30));
      }
      expectConsistent(cache, alive);
      most = std::max(most, cache.usedBlocks());
      if (HasFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
    EXPECT_EQ(cache.blocks(), most) << "free blocks are used again before new ones";
    for (const Index sequence : alive) cache.finish(sequence);
    EXPECT_EQ(cache.usedBlocks(), 0);
    EXPECT_EQ(cache.storedTokens(), 0);
  }
}

TEST(Paging, SharedPrefixBlocksAreCountedOnce) {
  PagedCache cache(16);
  const Index first = cache.add(40), second = cache.add(50, 40, first);
  // 40 tokens are two whole blocks and a half one, which is copied.
  EXPECT_EQ(cache.usedBlocks(), 3 + 2);
  EXPECT_EQ(cache.storedTokens(), 40 + 18);
  EXPECT_EQ(cache.owners(cache.table(first)[1]), 2);
  cache.finish(first);
  EXPECT_EQ(cache.usedBlocks(), 4);
  EXPECT_EQ(cache.storedTokens(), 50);
  cache.append(second, 1);
  EXPECT_EQ(cache.tokens(second), 51);
}

TEST(Paging, RefusesInvalidArguments) {
  EXPECT_THROW(PagedCache(0), std::invalid_argument);
  PagedCache cache(8);
  const Index one = cache.add(10);
  EXPECT_THROW(cache.add(20, 11, one), std::invalid_argument);
  EXPECT_THROW(cache.add(5, 6, one), std::invalid_argument);
  EXPECT_THROW(cache.append(7, 1), std::invalid_argument);
  cache.finish(one);
  EXPECT_THROW(cache.finish(one), std::invalid_argument);
  EXPECT_THROW(cache.append(one, 1), std::invalid_argument);
  EXPECT_THROW(cache.add(10, 2, one), std::invalid_argument);
}

TEST(Paging, ScheduleRunsUntilAllRequestsFinish) {
  const auto requests = checked(parseSchedule("0: 10 + 3\n\n1: 20 + 1 shares 10 with 1\n"));
  EXPECT_EQ((*requests)[1], (PagedRequest{1, 20, 1, 10, 0}));
  const std::vector<PagedStep> steps = runSchedule(*requests, 8);
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].tokens, (std::vector<Index>{10}));
  EXPECT_EQ(steps[1].tokens, (std::vector<Index>{11, 20}));
  EXPECT_EQ(steps[1].usedBlocks, 2 + 2) << "the first block is shared";
  EXPECT_EQ(steps[1].storedTokens, 11 + 12);
  EXPECT_EQ(steps[1].contiguousTokens, 2 * 21);
  EXPECT_EQ(steps[3].tokens, (std::vector<Index>{13})) << "the second is done";
  EXPECT_TRUE(steps.back().running.empty());
  EXPECT_EQ(steps.back().usedBlocks, 0);
}

TEST(Paging, PrefixIsStoredAgainAfterOwnerFinishes) {
  const auto steps = runSchedule(*parseSchedule("0: 16 + 0\n5: 16 + 1 shares 16 with 1"), 8);
  EXPECT_EQ(steps[5].running, (std::vector<Index>{1}));
  EXPECT_EQ(steps[5].storedTokens, 16);
}

TEST(Paging, RejectsInvalidSchedules) {
  const auto message = [](std::string_view text) {
    const auto read = parseSchedule(text);
    return read.ok() ? std::string("fine") : read.error().message;
  };
  using ::testing::HasSubstr;
  EXPECT_EQ(message(""), "no request, expected a line \"STEP: PROMPT + ANSWER\" for each");
  EXPECT_EQ(message("0: 10"),
            "line 1: \"0: 10\", expected \"STEP: PROMPT + ANSWER\" or \"… shares N with R\"");
  EXPECT_THAT(message("0: 1 + 1\n0: 1 + 1 x"), HasSubstr("line 2: \"0: 1 + 1 x\""));
  EXPECT_EQ(message("-1: 1 + 1"), "line 1: arrives at step -1, expected 0 to 256");
  EXPECT_EQ(message("0: 0 + 1"), "line 1: the prompt has 0 tokens, expected 1 to 1024");
  EXPECT_EQ(message("0: 1 + 99999"), "line 1: the answer has 99999 tokens, expected 0 to 1024");
  EXPECT_THAT(message("0: 99999999999999999999 + 1"), HasSubstr("expected \"STEP"));
  EXPECT_EQ(message("0: 4 + 1 shares 2 with 1"),
            "line 1: shares with request 1, expected one of the 0 before it");
  EXPECT_EQ(message("0: 4 + 1\n0: 9 + 1 shares 5 with 1"),
            "line 2: shares 5 tokens with request 1, expected 1 to 4, the shorter prompt");
  EXPECT_EQ(message("3: 4 + 1\n0: 9 + 1 shares 4 with 1"),
            "line 2: shares with request 1, which arrives later");
  std::string many;
  for (int i = 0; i < 17; ++i) many += "0: 1 + 1\n";
  EXPECT_EQ(message(many), "line 17: more than 16 requests");
}

TEST(Paging, ContiguousWasteIgnoresBlockSize) {
  const auto requests =
      checked(parseSchedule("0: 100 + 20\n0: 100 + 5 shares 100 with 1\n3: 7 + 3 shares 7 with 1"));
  for (const Index block : {8, 16, 256}) {
    const std::vector<PagedStep> steps = runSchedule(*requests, block);
    EXPECT_EQ(steps[4].tokens, (std::vector<Index>{104, 104, 8}));
    EXPECT_DOUBLE_EQ(contiguousWaste(steps[4]), 1 - 216.0 / 360) << block;
  }
  EXPECT_EQ(contiguousWaste({}), 0);
}

}  // namespace
}  // namespace headscope::attention::test
