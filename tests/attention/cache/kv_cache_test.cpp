#include "attention/cache/kv_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/attention.h"
#include "attention/core/positions.h"
#include "attention/core/result.h"
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

TEST(Latent, ErrorFallsWithSizeAndVanishesAtFullSize) {
  const Linear keys{gaussianMatrix(12, 16, 1), {}}, values{gaussianMatrix(12, 16, 2), {}};
  const Matrix x = gaussianMatrix(9, 16, 3);
  const Matrix k = keys.apply(x), v = values.apply(x);
  double before = 1e9;
  for (Index latent = 1; latent <= 16; ++latent) {
    const Matrix p = latentDirections(keys, values, latent);
    EXPECT_EQ(p.cols(), latent);
    EXPECT_LE((p.transpose() * p - Matrix::Identity(latent, latent)).cwiseAbs().maxCoeff(), 1e-5f);
    const Matrix again = x * p * p.transpose();
    const double weights =
        static_cast<double>((keys.weight - keys.weight * p * p.transpose()).squaredNorm() +
                            (values.weight - values.weight * p * p.transpose()).squaredNorm());
    EXPECT_LE(weights, before);
    before = weights;
    if (latent < 16) continue;
    EXPECT_LE((keys.apply(again) - k).cwiseAbs().maxCoeff(), 1e-4f);
    EXPECT_LE((values.apply(again) - v).cwiseAbs().maxCoeff(), 1e-4f);
  }
}

TEST(Latent, FindsTheTrueRank) {
  // Maps that depend on only three directions of sixteen.
  const Matrix three = gaussianMatrix(3, 16, 4);
  const Linear keys{gaussianMatrix(10, 3, 5) * three, {}}, values{gaussianMatrix(10, 3, 6) * three, {}};
  const Matrix x = gaussianMatrix(5, 16, 7), p = latentDirections(keys, values, 3);
  EXPECT_LE((keys.apply(x * p * p.transpose()) - keys.apply(x)).cwiseAbs().maxCoeff(), 1e-3f);
}

TEST(Latent, HasAtMostAsManyDirectionsAsOutputs) {
  const Linear keys{gaussianMatrix(3, 16, 1), {}}, values{gaussianMatrix(2, 16, 2), {}};
  const Matrix x = gaussianMatrix(5, 16, 3), p = latentDirections(keys, values, 9);
  EXPECT_EQ(p.cols(), 5);
  EXPECT_LE((p.transpose() * p - Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-5f);
  EXPECT_LE((values.apply(x * p * p.transpose()) - values.apply(x)).cwiseAbs().maxCoeff(), 1e-4f);
  // The directions are the same whether there are fewer outputs than inputs or, padded with zeros, more.
  Linear padded{Matrix::Zero(20, 16), {}};
  padded.weight.topRows(3) = keys.weight;
  const Matrix first = latentDirections(keys, values, 2), same = latentDirections(padded, values, 2);
  EXPECT_LE((first * first.transpose() - same * same.transpose()).cwiseAbs().maxCoeff(), 1e-4f);
}

/// A layer with 9 tokens, 4 query heads over 2 kv heads of size 6, and biases.
struct RotatedLayer {
  Index kvHeads = 2, headDim = 6, tokens = 9;
  Projections maps{{gaussianMatrix(24, 10, 1), gaussianMatrix(24, 1, 2)},
                   {gaussianMatrix(12, 10, 3), gaussianMatrix(12, 1, 4)},
                   {gaussianMatrix(12, 10, 5), {}},
                   {}};
  Matrix x = gaussianMatrix(9, 10, 6), table = ropeTable(0, 9, 6, 100);
};

TEST(Latent, HeadsShareRotaryKeysUnderOneRotation) {
  const RotatedLayer layer;
  for (const Index rotaryDim : {2, 4, 8}) {
    const LatentMaps maps = latentMaps(layer.maps, 2, 6, layer.table, 5, rotaryDim);
    EXPECT_EQ(maps.numbersPerToken(), 5 + rotaryDim);
    const Matrix& u = maps.rotary;
    EXPECT_LE((u.transpose() * u - Matrix::Identity(rotaryDim, rotaryDim)).cwiseAbs().maxCoeff(), 1e-5f);
    // A token caches rotaryDim numbers, as pairs rotated by their frequency's angle. Each head reads from
    // them what it would read from its own key, projected and then rotated.
    const Matrix shared = layer.maps.k.apply(layer.x) * u;
    Stack heads = splitHeads(readLatent(maps, layer.maps, layer.x).rotaryKeys, 2);
    for (Index g = 0; g < 2; ++g) applyRope(heads[g], layer.table);
    for (Index token = 0; token < layer.tokens; ++token) {
      Eigen::RowVectorXf cached = shared.row(token);
      for (Index i = 0; i < rotaryDim; i += 2) {
        Index pair = 0;
        u.col(i).cwiseAbs().maxCoeff(&pair);
        const double angle =
            static_cast<double>(token) * std::pow(100.0, -2.0 * static_cast<double>(pair % 3) / 6);
        const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
        cached.segment(i, 2) << shared(token, i) * c - shared(token, i + 1) * s,
            shared(token, i + 1) * c + shared(token, i) * s;
      }
      const Eigen::RowVectorXf read = cached * u.transpose();
      for (Index g = 0; g < 2; ++g)
        EXPECT_LE((heads[g].row(token) - read.segment(6 * g, 6)).cwiseAbs().maxCoeff(), 1e-4f);
    }
  }
}

TEST(Latent, PlainAndRotaryPartsRestoreTheFullKey) {
  const RotatedLayer layer;
  const Matrix k = layer.maps.k.apply(layer.x), v = layer.maps.v.apply(layer.x);
  for (const Index rotaryDim : {0, 4, 12}) {
    const LatentRead read =
        readLatent(latentMaps(layer.maps, 2, 6, layer.table, 10, rotaryDim), layer.maps, layer.x);
    EXPECT_LE((read.plainKeys + read.rotaryKeys - k).cwiseAbs().maxCoeff(), 1e-4f) << rotaryDim;
    EXPECT_LE((read.values - v).cwiseAbs().maxCoeff(), 1e-4f);
    const Matrix& none = rotaryDim == 0 ? read.rotaryKeys : read.plainKeys;
    if (rotaryDim != 4) {
      EXPECT_LE(none.cwiseAbs().maxCoeff(), 1e-4f) << rotaryDim;
    }
  }
}

TEST(Latent, FastestPairsKeepTheirRotationFirst) {
  // All pairs are equal except for their frequency.
  Linear alike{Matrix::Zero(6, 10), {}};
  for (Index row = 0; row < 6; ++row) alike.weight(row, row) = 1;
  const Matrix u = rotaryDirections(alike, alike, 1, 6, ropeTable(0, 9, 6, 100), 2);
  EXPECT_NEAR(u.row(0).norm(), 1, 1e-5f);
  EXPECT_NEAR(u.row(3).norm(), 1, 1e-5f);
}

TEST(Latent, RefusesInvalidArguments) {
  const Linear keys{gaussianMatrix(4, 8, 1), {}}, values{gaussianMatrix(4, 8, 2), {}};
  EXPECT_THROW(latentDirections(keys, values, 0), std::invalid_argument);
  EXPECT_THROW(latentDirections(keys, values, 9), std::invalid_argument);
  EXPECT_THROW(latentDirections(keys, {gaussianMatrix(4, 7, 2), {}}, 2), std::invalid_argument);
  const Matrix table = ropeTable(0, 3, 4, 100);
  EXPECT_THROW(rotaryDirections(keys, keys, 1, 4, table, 3), std::invalid_argument);
  EXPECT_THROW(rotaryDirections(keys, keys, 1, 4, table, 6), std::invalid_argument);
  EXPECT_THROW(rotaryDirections(keys, keys, 2, 4, table, 2), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
