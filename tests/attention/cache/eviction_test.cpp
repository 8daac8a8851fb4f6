#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "attention/cache/kv_cache.h"
#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {
namespace {

constexpr Index kEvictedTokens = 20, kEvictedHeads = 4, kKvHeads = 2;

AttentionResult causalResult(std::uint64_t seed = 1) {
  AttentionConfig config;
  config.modelDim = 32;
  config.heads = kEvictedHeads;
  config.kvHeads = kKvHeads;
  config.headDim = 8;
  config.sharpness = 3;
  const Matrix x = gaussianMatrix(kEvictedTokens, 32, seed);
  return attend(config, xavierProjections(config, false, seed), x, x,
                maskFor("causal", config, kEvictedTokens, kEvictedTokens));
}

/// The keys that a kv head still holds when `query` reads it.
std::vector<Index> left(const EvictionRun& run, Index kvHead, Index query) {
  std::vector<Index> keys;
  for (Index key = 0; key < run.tokens; ++key)
    if (run.keeps(kvHead, query, key)) keys.push_back(key);
  return keys;
}

TEST(Eviction, NoEvictionLosesNothing) {
  const AttentionResult full = causalResult();
  const EvictionRun run = runEviction(full, kKvHeads, {EvictionPolicy::none, 1});
  EXPECT_LE(run.massLost.maxCoeff(), 1e-6f);
  for (Index i = 0; i < kEvictedTokens; ++i) {
    EXPECT_EQ(run.entries[static_cast<std::size_t>(i)], kKvHeads * (i + 1));
    EXPECT_LE(run.outputError[static_cast<std::size_t>(i)], 1e-5);
  }
  for (Index h = 0; h < kEvictedHeads; ++h)
    EXPECT_LE((run.weights[h] - full.weights[h]).cwiseAbs().maxCoeff(), 1e-6f);
}

TEST(Eviction, WindowKeepsNewestAndSinksKeepFirstKeys) {
  const AttentionResult full = causalResult();
  const EvictionRun window = runEviction(full, kKvHeads, {EvictionPolicy::window, 6});
  EXPECT_EQ(left(window, 1, 15), (std::vector<Index>{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(left(window, 0, 3), (std::vector<Index>{0, 1, 2, 3}));
  const EvictionRun sinks = runEviction(full, kKvHeads, {EvictionPolicy::sinks, 6});
  EXPECT_EQ(left(sinks, 0, 15), (std::vector<Index>{0, 1, 2, 3, 14, 15}));
  const EvictionRun few = runEviction(full, kKvHeads, {EvictionPolicy::sinks, 3});
  EXPECT_EQ(left(few, 0, 15), (std::vector<Index>{0, 1, 15}));
  const EvictionRun one = runEviction(full, kKvHeads, {EvictionPolicy::sinks, 1});
  EXPECT_EQ(left(one, 0, 15), (std::vector<Index>{15}));
}

TEST(Eviction, HeavyHittersHaveMostAccumulatedWeight) {
  const AttentionResult full = causalResult();
  constexpr Index kBudget = 6;
  const EvictionRun run = runEviction(full, kKvHeads, {EvictionPolicy::heavy, kBudget});
  // By definition, token by token: the evicted key had the smallest weight of those that aren't recent.
  for (Index g = 0; g < kKvHeads; ++g)
    for (Index i = kBudget; i < kEvictedTokens; ++i) {
      const std::vector<Index> before = left(run, g, i - 1), after = left(run, g, i);
      const auto weight = [&](Index key) {
        double sum = 0;
        for (Index q = 0; q < i; ++q)
          for (Index h = 2 * g; h < 2 * g + 2; ++h) sum += static_cast<double>(run.weights.at(h, q, key));
        return sum;
      };
      Index gone = -1;
      for (const Index key : before)
        if (std::find(after.begin(), after.end(), key) == after.end()) gone = key;
      ASSERT_GE(gone, 0);
      for (std::size_t at = 0; at < before.size() + 1 - kBudget / 2; ++at)
        EXPECT_LE(weight(gone), weight(before[at]) + 1e-12) << i;
      EXPECT_EQ(after.back(), i);
    }
}

/// The key that a kv head evicts before `query` reads its cache.
Index evicted(const EvictionRun& run, Index kvHead, Index query) {
  const std::vector<Index> after = left(run, kvHead, query);
  for (const Index key : left(run, kvHead, query - 1))
    if (std::ranges::find(after, key) == after.end()) return key;
  return -1;
}

TEST(Eviction, TovaEvictsWhatTheLastQueryWeighsLeastInAllHeads) {
  const AttentionResult full = causalResult();
  const EvictionRun run = runEviction(full, kKvHeads, {EvictionPolicy::tova, 6});
  for (Index i = 6; i < kEvictedTokens; ++i) {
    EXPECT_EQ(left(run, 0, i), left(run, 1, i));
    const auto weight = [&](Index key) {
      double sum = 0;
      for (Index h = 0; h < kEvictedHeads; ++h) sum += static_cast<double>(run.weights.at(h, i - 1, key));
      return sum;
    };
    for (const Index key : left(run, 0, i - 1))
      EXPECT_LE(weight(evicted(run, 0, i)), weight(key) + 1e-9) << i;
  }
}

TEST(Eviction, KeyPoliciesReadTheCachedKeys) {
  const AttentionResult full = causalResult(3);
  const EvictionRun norm = runEviction(full, kKvHeads, {EvictionPolicy::keynorm, 6}),
                    unlike = runEviction(full, kKvHeads, {EvictionPolicy::keydiff, 6});
  for (Index g = 0; g < kKvHeads; ++g)
    for (Index i = 6; i < kEvictedTokens; ++i) {
      for (const Index key : left(norm, g, i - 1))
        EXPECT_GE(full.k[g].row(evicted(norm, g, i)).norm(), full.k[g].row(key).norm() - 1e-6F);
      // The mean over the entries with the newest, as the cache holds when one has to go.
      std::vector<Index> entries = left(unlike, g, i - 1);
      entries.push_back(i);
      Eigen::RowVectorXf mean = Eigen::RowVectorXf::Zero(full.k.cols());
      for (const Index key : entries) mean += full.k[g].row(key) / full.k[g].row(key).norm();
      const auto likeness = [&](Index key) {
        return full.k[g].row(key).dot(mean) / full.k[g].row(key).norm();
      };
      for (const Index key : left(unlike, g, i - 1))
        EXPECT_GE(likeness(evicted(unlike, g, i)), likeness(key) - 1e-5F);
    }
}

TEST(Eviction, RespectsBudgetAndLosesOnlyEvictedMass) {
  const AttentionResult full = causalResult(4);
  for (const EvictionPolicy policy :
       {EvictionPolicy::window, EvictionPolicy::sinks, EvictionPolicy::heavy, EvictionPolicy::random,
        EvictionPolicy::tova, EvictionPolicy::keynorm, EvictionPolicy::keydiff})
    for (const Index budget : {1, 2, 5, 8}) {
      const EvictionRun run = runEviction(full, kKvHeads, {policy, budget});
      for (Index i = 0; i < kEvictedTokens; ++i)
        for (Index g = 0; g < kKvHeads; ++g) {
          const std::vector<Index> keys = left(run, g, i);
          EXPECT_EQ(static_cast<Index>(keys.size()), std::min(i + 1, budget));
          EXPECT_EQ(keys.back(), i) << "the newest stays";
          // An evicted key never comes back.
          for (const Index key : keys) EXPECT_TRUE(key == i || run.keeps(g, i - 1, key));
          for (Index h = 2 * g; h < 2 * g + 2; ++h) {
            double lost = 0, sum = 0;
            for (Index j = 0; j <= i; ++j) {
              if (!run.keeps(g, i, j)) lost += static_cast<double>(full.weights.at(h, i, j));
              EXPECT_TRUE(run.keeps(g, i, j) || run.weights.at(h, i, j) == 0);
              sum += static_cast<double>(run.weights.at(h, i, j));
            }
            EXPECT_NEAR(static_cast<double>(run.massLost(h, i)), lost, 1e-5);
            EXPECT_NEAR(sum, 1, 1e-5);
          }
        }
    }
}

TEST(Eviction, OutputErrorMatchesDefinition) {
  const AttentionResult full = causalResult(7);
  const EvictionRun run = runEviction(full, kKvHeads, {EvictionPolicy::window, 3});
  for (Index i = 0; i < kEvictedTokens; ++i) {
    double difference = 0, whole = 0;
    for (Index h = 0; h < kEvictedHeads; ++h) {
      const Eigen::RowVectorXf output = run.weights[h].row(i) * full.v[h / 2];
      difference += static_cast<double>((output - full.headOutput[h].row(i)).squaredNorm());
      whole += static_cast<double>(full.headOutput[h].row(i).squaredNorm());
    }
    EXPECT_NEAR(run.outputError[static_cast<std::size_t>(i)], std::sqrt(difference / whole), 1e-4);
  }
}

TEST(Eviction, RandomPolicyIsReproducibleBySeed) {
  const AttentionResult full = causalResult();
  const auto kept = [&](std::uint64_t seed) {
    return runEviction(full, kKvHeads, {EvictionPolicy::random, 5, seed}).kept;
  };
  EXPECT_EQ(kept(3), kept(3));
  EXPECT_NE(kept(3), kept(4));
}

TEST(Eviction, RefusesInvalidArguments) {
  const AttentionResult full = causalResult();
  EXPECT_THROW(runEviction(full, kKvHeads, {EvictionPolicy::window, 0}), std::invalid_argument);
  AttentionResult wide = full;
  wide.scores = Stack(kEvictedHeads, 3, 5);
  EXPECT_THROW(runEviction(wide, kKvHeads, {EvictionPolicy::window, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
