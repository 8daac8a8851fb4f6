#include "attention/cache/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {
namespace {

/// Rows [first, first+count) of [heads, n, cols] bounds.
std::vector<Bounded> rowsOf(const std::vector<Bounded>& all, Index heads, Index n, Index cols, Index first,
                            Index count) {
  std::vector<Bounded> part;
  for (Index h = 0; h < heads; ++h)
    part.insert(part.end(), all.begin() + (h * n + first) * cols,
                all.begin() + (h * n + first + count) * cols);
  return part;
}

/// The first `keys` columns of each row.
std::vector<Bounded> columnsOf(const std::vector<Bounded>& all, Index cols, Index keys) {
  std::vector<Bounded> part;
  for (std::size_t row = 0; row < all.size(); row += static_cast<std::size_t>(cols))
    part.insert(part.end(), all.begin() + static_cast<std::ptrdiff_t>(row),
                all.begin() + static_cast<std::ptrdiff_t>(row) + keys);
  return part;
}

/// A causal self-attention problem that a cached decode has to reproduce.
Problem decodeProblem(std::uint64_t seed) {
  Problem p = randomProblem(seed);
  p.config.cacheLength = 0;
  p.x = p.context;
  p.mask = {};
  p.sight.keyLength.reset();
  p.sight.masked = {};
  p.sight.causal = true;
  p.compileSight();
  return p;
}

/// The mask of the `count` tokens after the first `done`.
MaskInput maskOf(const Problem& p, Index done, Index count) {
  return {maskPart(p.mask.formula, done, count, done + count), {}};
}

/// Appends the tokens in chunks and compares every step with the full pass, within its bounds.
void expectChunksEqualTheFullPass(const Problem& p, const Reference& full, const std::vector<Index>& chunks) {
  const Index n = p.x.rows();
  KvCache cache(p.config, n);
  const void* const reserved = cache.view().keys;
  for (const Index count : chunks) {
    const Index first = cache.length(), keys = first + count;
    SCOPED_TRACE("tokens " + std::to_string(first) + " to " + std::to_string(keys));
    const AttentionResult step =
        cache.append(p.projections, p.x.middleRows(first, count), maskOf(p, first, count));
    ASSERT_EQ(cache.length(), keys);
    EXPECT_EQ(step.scores.cols(), keys);
    EXPECT_TRUE(step.k.empty());
    const auto rows = [&](const std::vector<Bounded>& all, Index heads, Index cols) {
      return rowsOf(all, heads, n, cols, first, count);
    };
    const AttentionConfig& c = p.config;
    expectWithin(columnsOf(rows(full.scores, c.heads, n), n, keys), step.scores.data(), count, keys,
                 "scores");
    expectWithin(columnsOf(rows(full.weights, c.heads, n), n, keys), step.weights.data(), count, keys,
                 "weights");
    expectWithin(rows(full.lse, c.heads, 1), step.lse.data(), 1, count, "lse");
    expectWithin(rows(full.output, 1, c.modelDim), step.output.data(), count, c.modelDim, "output");
  }
  EXPECT_EQ(cache.view().keys, reserved) << "the cache moved";
}

TEST(KvCache, DecodeMatchesFullPassForEverySplit) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Problem p = decodeProblem(seed);
    const Reference full = referenceAttention(p);
    const Index n = p.x.rows();
    for (Index prompt = 1; prompt <= n; ++prompt) {
      SCOPED_TRACE(p.text + ", prompt " + std::to_string(prompt));
      std::vector<Index> chunks(static_cast<std::size_t>(1 + n - prompt), 1);
      chunks[0] = prompt;
      expectChunksEqualTheFullPass(p, full, chunks);
      if (HasFailure()) return;
    }
  }
}

TEST(KvCache, ChunksMatchFullPass) {
  for (std::uint64_t seed = 20; seed < 32; ++seed) {
    const Problem p = decodeProblem(seed);
    const Reference full = referenceAttention(p);
    for (const Index size : {2, 3, 7}) {
      SCOPED_TRACE(p.text + ", chunks of " + std::to_string(size));
      std::vector<Index> chunks;
      for (Index done = 0; done < p.x.rows(); done += size)
        chunks.push_back(std::min(size, p.x.rows() - done));
      expectChunksEqualTheFullPass(p, full, chunks);
      if (HasFailure()) return;
    }
  }
}

TEST(KvCache, HoldsKeysAndValuesOfFullPass) {
  const Problem p = decodeProblem(3);
  const AttentionResult full = attend(p.config, p.projections, p.x, p.x, p.mask);
  KvCache cache(p.config, p.x.rows() + 5);
  // A single prefill computes the same products as the full pass, so every bit agrees.
  const AttentionResult prefill = cache.append(p.projections, p.x, p.mask);
  for (Index g = 0; g < p.config.kvHeads; ++g) {
    EXPECT_EQ(cache.keys(g), full.k[g]);
    EXPECT_EQ(cache.values(g), full.v[g]);
  }
  EXPECT_EQ(prefill.output, full.output);
}

TEST(KvCache, DropoutMatchesFullPass) {
  Problem p = decodeProblem(2);
  p.config.dropout = {0.5f, 3};
  const AttentionResult full = attend(p.config, p.projections, p.x, p.x, p.mask);
  KvCache cache(p.config, p.x.rows());
  for (Index i = 0; i < p.x.rows(); ++i) {
    const AttentionResult step = cache.append(p.projections, p.x.row(i), maskOf(p, i, 1));
    for (Index h = 0; h < p.config.heads; ++h)
      for (Index j = 0; j <= i; ++j)
        EXPECT_EQ(step.weights.at(h, 0, j) == 0, full.weights.at(h, i, j) == 0)
            << h << ", " << i << ", " << j;
  }
}

TEST(KvCache, MasksApplyToAllCachedKeys) {
  const Problem p = decodeProblem(5);
  const Index n = p.x.rows();
  ASSERT_GE(n, 2);
  KvCache cache(p.config, n);
  const AttentionResult prefill = cache.append(p.projections, p.x.topRows(n - 1));
  EXPECT_EQ(prefill.weights.cols(), n - 1);
  AttentionConfig last = p.config;
  last.cacheLength = n - 1;
  const AttentionResult step = cache.append(p.projections, p.x.row(n - 1), maskFor("!full", last, 1, n));
  EXPECT_EQ(step.lse(0, 0), -std::numeric_limits<float>::infinity());
}

TEST(KvCache, RefusesMisfitsWithoutChangingTheCache) {
  const Problem p = decodeProblem(4);
  KvCache cache(p.config, 3);
  cache.append(p.projections, p.x.row(0));
  EXPECT_THROW(cache.append(p.projections, gaussianMatrix(3, p.config.modelDim, 1)), std::invalid_argument);
  EXPECT_THROW(cache.append(p.projections, gaussianMatrix(1, p.config.modelDim + 1, 1)),
               std::invalid_argument);
  const MaskInput mask = maskFor("causal", p.config, 1, 7);
  EXPECT_THROW(cache.append(p.projections, p.x.row(0), mask), std::invalid_argument);
  EXPECT_EQ(cache.length(), 1);
  EXPECT_THROW(cache.keys(p.config.kvHeads), std::invalid_argument);
  EXPECT_THROW(KvCache(p.config, -1), std::invalid_argument);
  EXPECT_THROW(KvCache(p.config, std::numeric_limits<Index>::max()), std::invalid_argument);
}

TEST(KvCache, StoppedStepKeepsItsTokens) {
  const Problem p = decodeProblem(4);
  KvCache cache(p.config, 4);
  std::stop_source source;
  source.request_stop();
  cache.append(p.projections, p.x.row(0), {}, source.get_token());
  EXPECT_EQ(cache.length(), 1);
  // The next step reads the token that the stopped step appended.
  const AttentionResult step = cache.append(p.projections, p.x.row(1), maskOf(p, 1, 1));
  const AttentionResult full =
      attend(p.config, p.projections, p.x.topRows(2), p.x.topRows(2), maskOf(p, 0, 2));
  EXPECT_LE((step.output - full.output.row(1)).cwiseAbs().maxCoeff(),
            64 * std::numeric_limits<float>::epsilon());
}

TEST(KvCache, TruncatingAndGrowingKeepEarlierTokens) {
  for (const CacheType type : {CacheType::f32, CacheType::f16, CacheType::bf16}) {
    const Problem p = decodeProblem(7);
    KvCache cache(p.config, 3, type);
    cache.append(p.projections, p.x.topRows(3), maskOf(p, 0, 3));
    std::vector<Matrix> keys, values;
    for (Index g = 0; g < p.config.kvHeads; ++g) {
      keys.push_back(cache.keys(g).topRows(2));
      values.push_back(cache.values(g).topRows(2));
    }
    cache.truncate(2);
    cache.reserve(9);
    cache.reserve(1);  // capacity never shrinks
    EXPECT_EQ(cache.length(), 2);
    EXPECT_EQ(cache.capacity(), 9);
    for (std::size_t g = 0; g < keys.size(); ++g) {
      EXPECT_EQ(cache.keys(static_cast<Index>(g)), keys[g]);
      EXPECT_EQ(cache.values(static_cast<Index>(g)), values[g]);
    }
    EXPECT_THROW(cache.truncate(3), std::invalid_argument);
    EXPECT_THROW(cache.truncate(-1), std::invalid_argument);
  }
}

TEST(KvCache, RefusesMismatchedProjectedHeads) {
  const Problem p = decodeProblem(8);
  const auto& c = p.config;
  KvCache cache(c, 4);
  const auto stack = [](Index heads, Index rows, Index cols) { return Stack(heads, rows, cols); };
  const Stack k = stack(c.kvHeads, 2, c.headDim);
  EXPECT_THROW(cache.appendHeads(c, stack(c.heads, 3, c.headDim), k, k), std::invalid_argument);
  EXPECT_THROW(cache.appendHeads(c, stack(c.heads, 2, c.headDim + 1), k, k), std::invalid_argument);
  const Stack five = stack(c.kvHeads, 5, c.headDim);
  EXPECT_THROW(cache.appendHeads(c, stack(c.heads, 5, c.headDim), five, five), std::invalid_argument);
  AttentionConfig other = c;
  other.heads *= 2;
  EXPECT_THROW(cache.appendHeads(other, stack(other.heads, 2, c.headDim), k, k), std::invalid_argument);
  EXPECT_EQ(cache.length(), 0);
}

}  // namespace
}  // namespace headscope::attention::test
