#include "attention/masks/runs.h"

#include <gtest/gtest.h>

#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {
namespace {

constexpr Index kRunKeys = 9;

/// Bit k of `bits` is key k.
KeyRuns runsOf(unsigned bits) {
  KeyRuns runs;
  for (Index key = 0; key < kRunKeys; ++key)
    if (bits >> key & 1) appendRun(runs, key, key + 1);
  return runs;
}

unsigned bitsOf(const KeyRuns& runs) {
  unsigned bits = 0;
  for (const KeyRun& run : runs)
    for (Index key = run.begin; key < run.end; ++key) bits |= 1u << key;
  return bits;
}

TEST(Runs, OperationsMatchSets) {
  // Every pair of sets of nine keys.
  constexpr unsigned kSets = 1u << kRunKeys;
  std::vector<KeyRuns> sets;
  for (unsigned bits = 0; bits < kSets; ++bits) sets.push_back(runsOf(bits));
  KeyRuns out{{7, 2}};
  for (unsigned a = 0; a < kSets; ++a) {
    ASSERT_TRUE(wellFormed(sets[a], kRunKeys));
    complement(sets[a], kRunKeys, out);
    ASSERT_EQ(out, sets[kSets - 1 - a]);
    for (unsigned b = 0; b < kSets; ++b) {
      unite(sets[a], sets[b], out);
      ASSERT_EQ(out, sets[a | b]) << a << " or " << b;
      intersect(sets[a], sets[b], out);
      ASSERT_EQ(out, sets[a & b]) << a << " and " << b;
      subtract(sets[a], sets[b], out);
      ASSERT_EQ(out, sets[a & ~b]) << a << " without " << b;
    }
  }
}

TEST(Runs, ComplementIgnoresRunsBeyondTheKeys) {
  KeyRuns out;
  complement({{1, 3}, {5, 20}}, 8, out);
  EXPECT_EQ(out, (KeyRuns{{0, 1}, {3, 5}}));
  complement({{10, 20}}, 8, out);
  EXPECT_EQ(out, (KeyRuns{{0, 8}}));
  complement({}, 0, out);
  EXPECT_EQ(out, KeyRuns{});
}

TEST(Runs, AppendingJoinsAdjacentRuns) {
  KeyRuns runs;
  appendRun(runs, 4, 4);
  appendRun(runs, 5, 2);
  EXPECT_TRUE(runs.empty());
  appendRun(runs, 1, 3);
  appendRun(runs, 3, 4);
  EXPECT_EQ(runs, (KeyRuns{{1, 4}}));
  appendRun(runs, 2, 3);
  EXPECT_EQ(runs, (KeyRuns{{1, 4}}));
  appendRun(runs, 6, 9);
  EXPECT_EQ(runs, (KeyRuns{{1, 4}, {6, 9}}));
}

TEST(Runs, SortingNormalisesArbitraryRuns) {
  Random random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    KeyRuns runs;
    unsigned bits = 0;
    for (Index count = pick(random, 6); count > 0; --count) {
      const KeyRun run{pick(random, kRunKeys + 1), pick(random, kRunKeys + 1)};
      runs.push_back(run);
      bits |= bitsOf({run});
    }
    sortRuns(runs);
    ASSERT_EQ(runs, runsOf(bits));
  }
}

}  // namespace
}  // namespace headscope::attention::test
