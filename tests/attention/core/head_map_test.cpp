// A head's map, part by part and at every zoom, compared with the textbook's dense weights pooled in plain
// loops.

#include "attention/core/head_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>

#include "tests/attention/core/heads_problem.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

constexpr Index kFactors[] = {1, 2, 4, 8, 16, 32, 64, 128};

/// One head of a problem with a single kv head, and the textbook's result for it.
struct MapProblem {
  HeadsProblem heads;
  Index head = 0;
  AttentionResult expected;
  HeadsLimits limits;

  MapProblem(HeadsProblem problem, Index which) : heads(std::move(problem)), head(which) {
    expected = solveTextbook(heads);
    limits = limitsOf(heads, expected);
  }
  HeadField field() const { return {heads.config, head, heads.q[head], heads.k[0], heads.mask}; }
};

/// Pooled values and their limits.
struct PooledLimits {
  Matrix max, mean, maxLimits, meanLimits;
};

/// Sets one pixel: the pool of rows and keys [begin, end) of the dense weights.
void poolPixel(const MapProblem& p, Index rowBegin, Index rowEnd, Index keyBegin, Index keyEnd, Index y,
               Index x, PooledLimits& out) {
  double max = -kInfinity, sum = 0, maxLimit = 0, sumLimit = 0;
  for (Index row = rowBegin; row < rowEnd; ++row)
    for (Index key = keyBegin; key < keyEnd; ++key) {
      if (p.expected.scores.at(p.head, row, key) == -kInfinity) continue;
      const double weight = p.expected.weights.at(p.head, row, key);
      const double limit = p.limits.weights.at(p.head, row, key);
      max = std::isnan(weight) || std::isnan(max) ? kNaN : std::max(max, weight);
      sum += weight;
      maxLimit = std::max(maxLimit, limit);
      sumLimit += limit;
    }
  const auto cells = static_cast<double>((rowEnd - rowBegin) * (keyEnd - keyBegin));
  out.max(y, x) = static_cast<float>(max);
  out.mean(y, x) = max == -kInfinity ? -kInfinity : static_cast<float>(sum / cells);
  out.maxLimits(y, x) = static_cast<float>(maxLimit);
  // The sum of all cells is rounded once per cell, in any order.
  out.meanLimits(y, x) = static_cast<float>((sumLimit + sum * (cells + 8) * kEpsilon) / cells);
}

PooledLimits pooledDense(const MapProblem& p, const MapPart& part) {
  const Index f = part.factor;
  const Index rowEnd = std::min(part.row + part.rows, p.heads.queries());
  const Index keyEnd = std::min(part.key + part.keys, p.heads.keys());
  const Index height = (rowEnd - part.row + f - 1) / f, width = (keyEnd - part.key + f - 1) / f;
  PooledLimits out{Matrix(height, width), Matrix(height, width), Matrix(height, width),
                   Matrix(height, width)};
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x)
      poolPixel(p, part.row + y * f, std::min(part.row + (y + 1) * f, rowEnd), part.key + x * f,
                std::min(part.key + (x + 1) * f, keyEnd), y, x, out);
  return out;
}

void expectPart(const MapProblem& p, HeadMap& map, const MapPart& part) {
  SCOPED_TRACE(p.heads.text + ", head " + std::to_string(p.head) + ", rows from " + std::to_string(part.row) +
               ", keys from " + std::to_string(part.key) + ", " + shapeText(part.rows, part.keys) +
               " pooled by " + std::to_string(part.factor));
  const PooledLimits expected = pooledDense(p, part);
  const Index rows = expected.max.rows(), cols = expected.max.cols();
  const HeadMap::Pooled both = map.pooled(part);
  if (rows == 0 || cols == 0) {
    EXPECT_EQ(both.max.size(), 0);
    return;
  }
  ASSERT_EQ(both.max.rows(), rows);
  ASSERT_EQ(both.max.cols(), cols);
  ASSERT_EQ(both.mean.rows(), rows);
  ASSERT_EQ(both.mean.cols(), cols);
  expectClose(expected.max.data(), both.max.data(), expected.maxLimits.data(), 1, rows, cols, "max");
  expectClose(expected.mean.data(), both.mean.data(), expected.meanLimits.data(), 1, rows, cols, "mean");
  // Each pooling alone gives the same bits, except for NaN.
  const auto sameBits = [](const Matrix& a, const Matrix& b) {
    return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data(), [](float x, float y) {
             return x == y || (std::isnan(x) && std::isnan(y));
           });
  };
  EXPECT_TRUE(sameBits(map.weights(part, Pooling::max), both.max));
  EXPECT_TRUE(sameBits(map.weights(part, Pooling::mean), both.mean));
  EXPECT_FALSE((both.max.array() > 1).any());
}

/// Checks parts that begin anywhere, then the whole map, whose log-sum-exps are known for some rows by then.
void expectMap(const MapProblem& p, Random& random) {
  const Index n = p.heads.queries(), m = p.heads.keys();
  for (const Index factor : kFactors) {
    HeadMap map(p.field());
    for (int k = 0; k < 2; ++k) {
      const Index row = pick(random, n / factor + 1) * factor, key = pick(random, m / factor + 1) * factor;
      expectPart(p, map,
                 {row, key, (1 + pick(random, n / factor + 1)) * factor,
                  (1 + pick(random, m / factor + 1)) * factor, factor});
    }
    expectPart(p, map, {0, 0, n, m, factor});
    for (Index row = 0; row < n; ++row) {
      EXPECT_EQ(map.dead(row, 1), p.expected.lse(p.head, row) == -kInfinity)
          << p.heads.text << ", row " << row;
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(HeadMap, RandomMapsEqualPooledDenseWeights) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Random random(mixSeed(seed, 4));
    HeadsSizes sizes{1 + pick(random, 3), 1, 1 + pick(random, seed % 10 ? 24 : 256)};
    sizes.queries = 1 + pick(random, 150);
    sizes.keys = 1 + pick(random, 150);
    expectMap(MapProblem(randomHeads(sizes, seed + 70), pick(random, sizes.heads)), random);
    if (HasFailure()) return;
  }
}

TEST(HeadMap, LongMapsEqualPooledDenseWeights) {
  Random random(1);
  for (const auto& [n, m] : {std::pair<Index, Index>{777, 613}, {130, 1100}, {1027, 129}})
    for (int trial = 0; trial < 3; ++trial) {
      expectMap(MapProblem(randomHeads({2, 1, 20, n, m}, random.next()), 1), random);
      if (HasFailure()) return;
    }
}

TEST(HeadMap, MasksOfEveryKindEqualPooledDenseWeights) {
  Random random(2);
  for (const char* const text : {"causal", "window(40)", "documents(causal, starts=[70, 131])", "!full",
                                 "causal & !window(90)", "block_diagonal(50)", "sinks(3) & !causal"}) {
    HeadsProblem p = plainHeads({2, 1, 12, 301, 301}, 5);
    p.mask.formula = compiled(std::string(text), geometryOf(301, 301, 0, 2, 1));
    p.text = text;
    expectMap(MapProblem(std::move(p), 0), random);
    if (HasFailure()) return;
  }
}

/// Scores that are small everywhere except between one query and one key.
HeadField planted(Index n, Index m, Index row, Index key) {
  HeadField field;
  field.config = plainConfig(1, 1, 16);
  field.q = 0.1f * gaussianStack(1, n, 16, 1)[0];
  field.k = gaussianStack(1, m, 16, 2)[0];
  field.q.row(row).setZero();
  field.q(row, 3) = 20;
  field.k(key, 3) = 8;
  return field;
}

TEST(HeadMap, OneBrightCellIsBrightAtEveryZoom) {
  for (const auto& [row, key] :
       {std::pair<Index, Index>{0, 0}, {500, 3}, {321, 890}, {700, 900}, {64, 127}}) {
    HeadMap map(planted(701, 901, row, key));
    float darkest = 1;
    for (const Index factor : kFactors) {
      const Matrix max = map.weights({0, 0, 701, 901, factor}, Pooling::max);
      Index y = -1, x = -1;
      const float brightest = max.maxCoeff(&y, &x);
      EXPECT_EQ(y, row / factor) << "factor " << factor;
      EXPECT_EQ(x, key / factor) << "factor " << factor;
      darkest = std::min(darkest, brightest);
      EXPECT_GT(brightest, 0.99f);
    }
    EXPECT_GT(darkest, 0.99f);
  }
}

/// Pools two by two pixels by their largest value.
Matrix halved(const Matrix& a) {
  Matrix half = Matrix::Constant((a.rows() + 1) / 2, (a.cols() + 1) / 2, -kInfinity);
  for (Index y = 0; y < a.rows(); ++y)
    for (Index x = 0; x < a.cols(); ++x) half(y / 2, x / 2) = std::max(half(y / 2, x / 2), a(y, x));
  return half;
}

TEST(HeadMap, CoarserMaximaEqualFinerOnesBitwise) {
  HeadsProblem p = plainHeads({1, 1, 19, 333, 421}, 8);
  p.config.cacheLength = 88;
  p.mask = maskFor("causal", p.config, 333, 421);
  HeadMap map(MapProblem(p, 0).field());
  Matrix finer;
  for (const Index factor : kFactors) {
    const Matrix max = map.weights({0, 0, 333, 421, factor}, Pooling::max);
    // Between single cells and sums of 32 keys, the exponential is computed by another function.
    if (factor > 1 && factor != 32) {
      EXPECT_EQ(max, halved(finer)) << "factor " << factor;
    }
    finer = max;
  }
}

TEST(HeadMap, PreviewIsNeverBrighterThanTheMap) {
  HeadsProblem p = plainHeads({1, 1, 16, 900, 700}, 8);
  p.mask = maskFor("causal", p.config, 900, 700);
  const MapProblem problem(p, 0);
  for (const Index factor : {32, 64, 128}) {
    HeadMap exact(problem.field());
    const HeadMap::Pooled all = exact.pooled({0, 0, 900, 700, factor});
    for (const double work : {1.0, 1e5, 5e5, 2e6, 1e12}) {
      HeadMap sampled(problem.field());
      const Matrix max = sampled.preview(factor, Pooling::max, work);
      const Matrix mean = HeadMap(problem.field()).preview(factor, Pooling::mean, work);
      const Index step = sampled.previewStep(factor, work);
      ASSERT_EQ(max.rows(), all.max.rows());
      ASSERT_EQ(max.cols(), all.max.cols());
      EXPECT_TRUE((max.array() <= all.max.array()).all()) << "factor " << factor << ", step " << step;
      if (step == 1) {
        EXPECT_EQ(max, all.max);
        EXPECT_EQ(mean, all.mean);
      }
      // A preview doesn't change the exact map.
      EXPECT_EQ(sampled.pooled({0, 0, 900, 700, factor}).max, all.max)
          << "factor " << factor << ", step " << step;
    }
    EXPECT_GT(exact.previewStep(factor, 1), 1);
    EXPECT_EQ(exact.previewStep(factor, 1e12), 1);
  }
}

TEST(HeadMap, NaNQueryShowsInItsRowOnly) {
  for (const Index factor : kFactors) {
    HeadField field = planted(300, 400, 7, 9);
    field.q.row(130).setConstant(kNaN);
    HeadMap map(std::move(field));
    const HeadMap::Pooled pooled = map.pooled({0, 0, 300, 400, factor});
    for (Index y = 0; y < pooled.max.rows(); ++y) {
      const bool broken = y == 130 / factor;
      EXPECT_EQ(pooled.max.row(y).array().isNaN().all(), broken) << "factor " << factor << ", row " << y;
      EXPECT_EQ(pooled.max.row(y).array().isNaN().any(), broken) << "factor " << factor << ", row " << y;
      EXPECT_EQ(pooled.mean.row(y).array().isNaN().all(), broken) << "factor " << factor << ", row " << y;
    }
  }
}

TEST(HeadMap, MapIsCorrectAfterAStop) {
  std::stop_source source;
  source.request_stop();
  for (const Index factor : kFactors) {
    HeadMap map(planted(300, 400, 7, 9)), fresh(planted(300, 400, 7, 9));
    const MapPart whole{0, 0, 300, 400, factor};
    EXPECT_EQ(map.weights(whole, Pooling::mean, source.get_token()).size(), 0);
    EXPECT_EQ(map.preview(factor, Pooling::max, 1e5, source.get_token()).size(), 0);
    EXPECT_EQ(map.pooled(whole).max, fresh.pooled(whole).max);
  }
}

TEST(HeadMap, DeadRowsAreKnownOnceComputed) {
  HeadField field = planted(100, 80, 7, 9);
  field.mask.additive = Stack(1, 100, 80);
  field.mask.additive[0].middleRows(40, 20).setConstant(-kInfinity);
  HeadMap map(std::move(field));
  EXPECT_FALSE(map.dead(40, 20));
  (void)map.weights({0, 0, 100, 80, 4}, Pooling::max);
  EXPECT_TRUE(map.dead(40, 20));
  EXPECT_FALSE(map.dead(39, 2));
  EXPECT_FALSE(map.dead(59, 2));
}

TEST(HeadMap, RefusesInvalidPartsAndFields) {
  HeadMap map(planted(100, 80, 7, 9));
  EXPECT_THROW((void)map.weights({2, 0, 10, 10, 4}, Pooling::max), std::invalid_argument);
  EXPECT_THROW((void)map.weights({0, 0, 10, 10, 3}, Pooling::max), std::invalid_argument);
  EXPECT_THROW((void)map.weights({104, 0, 10, 10, 4}, Pooling::max), std::invalid_argument);
  HeadField wide = planted(100, 80, 7, 9);
  wide.config.headDim = 17;
  EXPECT_THROW(HeadMap{std::move(wide)}, std::invalid_argument);
  HeadField another = planted(100, 80, 7, 9);
  another.head = 1;
  EXPECT_THROW(HeadMap{std::move(another)}, std::invalid_argument);
  HeadField added = planted(100, 80, 7, 9);
  added.mask.additive = Stack(1, 80, 100);
  EXPECT_THROW(HeadMap{std::move(added)}, std::invalid_argument);
}

TEST(HeadMap, EmptyInputGivesNoPixels) {
  for (const auto& [n, m] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}}) {
    HeadField field;
    field.config = plainConfig(1, 1, 4);
    field.config.alibi = true;
    field.q = Matrix::Zero(n, 4);
    field.k = Matrix::Zero(m, 4);
    HeadMap map(std::move(field));
    for (const Index factor : {1, 64}) {
      EXPECT_EQ(map.weights({0, 0, n, m, factor}, Pooling::max).size(), 0);
      EXPECT_EQ(map.preview(factor, Pooling::max, 1e9).size(), 0);
    }
  }
}

}  // namespace
}  // namespace headscope::attention::test
