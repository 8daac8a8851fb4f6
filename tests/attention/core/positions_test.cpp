#include "attention/core/positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

/// A term's value in a cell; 0 if it doesn't apply.
float valueOf(const ScoreReceipt& receipt, std::string_view name) {
  for (const ScoreStep& step : receipt.steps)
    if (step.term->name == name) return step.value;
  return 0;
}

TEST(Positions, SinusoidsFollowTheFormula) {
  const Matrix encoding = sinusoidalPositions(3, 4, 7);
  for (Index p = 0; p < 4; ++p)
    for (Index d = 0; d < 7; ++d) {
      const double angle = static_cast<double>(p + 3) / std::pow(10000.0, 2 * std::floor(d / 2.0) / 7);
      const double expected = d % 2 == 1 ? std::cos(angle) : std::sin(angle);
      EXPECT_NEAR(encoding(p, d), expected, kFloatEpsilon) << p << ", " << d;
    }
}

double rotatedDot(const Matrix& q, const Matrix& k, Index i, Index j, double theta) {
  Matrix a = q, b = k;
  applyRope(MutableMatrixView(a.data(), 1, a.cols()), i, theta);
  applyRope(MutableMatrixView(b.data(), 1, b.cols()), j, theta);
  return a.row(0).cast<double>().dot(b.row(0).cast<double>());
}

TEST(Positions, RopeDependsOnlyOnRelativePosition) {
  for (const Index dim : {2, 8, 64})
    for (const double theta : {10000.0, 500000.0}) {
      const Matrix q = gaussianMatrix(1, dim, 1), k = gaussianMatrix(1, dim, 2);
      // Cosine, sine, products and sums of both rotations are rounded: about eight epsilons of the norms.
      const double tolerance = 8 * kFloatEpsilon * q.norm() * k.norm();
      for (const Index distance : {-7, 0, 1, 12}) {
        const double first = rotatedDot(q, k, 7 + distance, 7, theta);
        for (const Index shift : {1, 50, 3000})
          EXPECT_NEAR(rotatedDot(q, k, 7 + distance + shift, 7 + shift, theta), first, tolerance)
              << "head size " << dim << ", distance " << distance << ", shift " << shift;
      }
      EXPECT_GT(std::abs(rotatedDot(q, k, 9, 7, theta) - rotatedDot(q, k, 7, 7, theta)), 10 * tolerance);
    }
}

TEST(Positions, RopePairsDimensionsOfBothHalves) {
  // A quarter turn needs position · frequency = π/2. With one pair, the frequency is 1, so the angle is the
  // position itself.
  Matrix x{{1, 0}};
  applyRope(MutableMatrixView(x.data(), 1, 2), 2, 10000.0);
  EXPECT_NEAR(x(0, 0), std::cos(2.0), kFloatEpsilon);
  EXPECT_NEAR(x(0, 1), std::sin(2.0), kFloatEpsilon);
  Matrix wide{{0, 1, 0, 0, 0, 0}};
  applyRope(MutableMatrixView(wide.data(), 1, 6), 1, 1000.0);
  EXPECT_NEAR(wide(0, 1), std::cos(0.1), kFloatEpsilon);
  EXPECT_NEAR(wide(0, 4), std::sin(0.1), kFloatEpsilon);
  EXPECT_EQ(wide(0, 0), 0);
}

TEST(Positions, RopeKeepsPositionZeroAndRefusesOddSizes) {
  Matrix x = gaussianMatrix(2, 6, 1);
  const Matrix before = x;
  applyRope(MutableMatrixView(x.data(), 2, 6), 0, 10000.0);
  EXPECT_EQ(x.row(0), before.row(0));
  EXPECT_NE(x.row(1), before.row(1));
  Matrix odd = gaussianMatrix(2, 5, 1);
  EXPECT_THROW(applyRope(MutableMatrixView(odd.data(), 2, 5), 0, 10000.0), std::invalid_argument);
}

TEST(Positions, AlibiSlopesMatchThePaper) {
  // Press et al. 2022, section 3: 1/2 … 1/256 for 8 heads; their code interleaves the slopes for 6 and 12
  // heads.
  const auto expectSlopes = [](const std::vector<double>& exponents, double most = 8) {
    const std::vector<float> slopes = alibiSlopes(static_cast<Index>(exponents.size()), most);
    ASSERT_EQ(slopes.size(), exponents.size());
    for (std::size_t h = 0; h < slopes.size(); ++h) {
      const double expected = std::exp2(-exponents[h]);
      EXPECT_NEAR(slopes[h], expected, kFloatEpsilon * expected) << exponents.size() << " heads, head " << h;
    }
  };
  expectSlopes({8});
  expectSlopes({1, 2, 3, 4, 5, 6, 7, 8});
  expectSlopes({2, 4, 6, 8, 1, 3});
  expectSlopes({4, 8, 12, 16, 2, 6}, 16);
  expectSlopes({1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5});
  expectSlopes({0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8});
}

/// The first distances of the buckets with T5's own parameters, worked out by hand: exact distances, then
/// powers of 8^(1/16) times 16, or of 16^(1/8) times 8 if half of the buckets are for keys ahead.
TEST(T5, DefaultBucketsStartAtExpectedDistances) {
  const auto expectStarts = [](bool bidirectional, Index exact, const std::vector<Index>& further) {
    const BucketBias bias{32, 128, bidirectional, 1, 0};
    const auto bucketOf = [&](Index distance) {
      if (distance < exact) return distance;
      return exact +
             static_cast<Index>(std::upper_bound(further.begin(), further.end(), distance) -
                                further.begin()) -
             1;
    };
    for (Index distance = 0; distance < 400; ++distance) {
      EXPECT_EQ(t5Bucket(bias, distance), bucketOf(distance)) << distance << " back";
      const Index ahead = bidirectional ? 16 + bucketOf(distance) : 0;
      if (distance > 0) {
        EXPECT_EQ(t5Bucket(bias, -distance), ahead) << distance << " ahead";
      }
    }
  };
  expectStarts(false, 16, {16, 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113});
  expectStarts(true, 8, {8, 12, 16, 23, 32, 46, 64, 91});
}

/// Raffel et al. 2020, section 2.1, and the code published with it, in long double. A distance that the
/// formula puts on a bucket's edge may be rounded to either side.
TEST(T5, BucketsFollowThePublishedDefinition) {
  for (const bool bidirectional : {false, true})
    for (const Index buckets : {4, 6, 8, 32, 50, 128})
      for (const Index maxDistance : {buckets / 2 + 1, buckets, Index{128}, Index{1000}, Index{2048}}) {
        const BucketBias bias{buckets, maxDistance, bidirectional, 1, 0};
        const Index count = bidirectional ? buckets / 2 : buckets, exact = count / 2;
        if (maxDistance <= exact) continue;
        for (Index back = -2100; back <= 2100; ++back) {
          const Index base = bidirectional && back < 0 ? count : 0;
          const Index distance = bidirectional ? std::abs(back) : std::max<Index>(back, 0);
          const Index found = t5Bucket(bias, back) - base;
          if (distance < exact) {
            ASSERT_EQ(found, distance);
            continue;
          }
          const long double place =
              std::log(static_cast<long double>(distance) / static_cast<long double>(exact)) /
              std::log(static_cast<long double>(maxDistance) / static_cast<long double>(exact)) *
              static_cast<long double>(count - exact);
          const bool edge = std::abs(place - std::round(place)) < 1e-9L;
          const auto bucket =
              std::min(exact + static_cast<Index>(std::floor(place + (edge ? 0.5L : 0.0L))), count - 1);
          ASSERT_TRUE(found == bucket || (edge && found == bucket - 1))
              << found << " instead of " << bucket << " for " << back << " of " << buckets
              << " buckets up to " << maxDistance;
        }
      }
}

TEST(T5, ValuesDependOnSeedAndStrength) {
  BucketBias bias{128, 1000, false, 1, 5};
  const Matrix values = t5Values(bias, 64);
  ASSERT_EQ(values.rows(), 64);
  ASSERT_EQ(values.cols(), 128);
  EXPECT_EQ(t5Values(bias, 64), values);
  EXPECT_EQ(t5Values(bias, 8), values.topRows(8)) << "a head's numbers don't ask how many heads there are";
  bias.strength = 3;
  EXPECT_EQ(t5Values(bias, 64), 3 * values);
  bias.strength = 0;
  EXPECT_TRUE(t5Values(bias, 64).isZero(0));
  bias.strength = 1;
  bias.seed = 6;
  EXPECT_NE(t5Values(bias, 64), values);
  // 8,192 draws: the mean is within five of its standard deviations, and so is the mean square.
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(values.cast<double>().mean(), 0, 5 / std::sqrt(count));
  EXPECT_NEAR(values.cast<double>().squaredNorm() / count, 1, 5 * std::sqrt(2 / count));
}

/// The bias of every head at every distance, with a cache and with fewer queries than keys, compared with the
/// receipts, which compute it cell by cell.
TEST(Positions, BiasesByDistanceMatchReceipts) {
  for (const bool alibi : {false, true})
    for (const bool t5 : {false, true})
      for (const Index cached : {0, 3, 40}) {
        Problem p = randomProblem(1);
        p.config.alibi = alibi;
        p.config.cacheLength = cached;
        p.config.t5.reset();
        if (t5) p.config.t5 = BucketBias{8, 20, cached == 3, 0.7F, 9};
        p.mask = {};
        const Index n = p.x.rows(), m = p.context.rows();
        const AttentionResult result = attend(p.config, p.projections, p.x, p.context, p.mask);
        for (Index head = 0; head < p.config.heads; ++head) {
          const HeadTerms terms = headTerms(p.config, p.mask, head, n, m);
          ASSERT_EQ(std::ssize(terms.bias), alibi || t5 ? n + m - 1 : 0);
          for (Index row = 0; row < n; ++row)
            for (Index j = 0; j < m; ++j) {
              const ScoreReceipt receipt = explainScore(p.config, p.mask, result, head, row, j);
              const float* const bias = terms.biasOf(row);
              ASSERT_EQ(valueOf(receipt, "ALiBi") + valueOf(receipt, "T5"), bias ? bias[j] : 0)
                  << head << ", " << row << ", " << j;
              const float number =
                  t5 ? t5Values(*p.config.t5, p.config.heads)(head, t5Bucket(*p.config.t5, cached + row - j))
                     : 0;
              ASSERT_EQ(valueOf(receipt, "T5"), number);
            }
        }
      }
}

/// The bias is really added: scores with T5 differ from those without by the bucket's value.
TEST(T5, BiasIsAddedToTheScores) {
  Problem p = randomProblem(2);
  p.config.softcap = 0;
  p.config.t5.reset();
  const AttentionResult plain = attend(p.config, p.projections, p.x, p.context, p.mask);
  p.config.t5 = BucketBias{8, 20, true, 2, 4};
  const AttentionResult biased = attend(p.config, p.projections, p.x, p.context, p.mask);
  for (Index head = 0; head < p.config.heads; ++head)
    for (Index row = 0; row < p.x.rows(); ++row)
      for (Index j = 0; j < p.context.rows(); ++j) {
        const float before = plain.scores.at(head, row, j), after = biased.scores.at(head, row, j);
        if (std::isinf(before)) {
          EXPECT_EQ(after, before);
          continue;
        }
        const ScoreReceipt receipt = explainScore(p.config, p.mask, biased, head, row, j);
        const float t5 = valueOf(receipt, "T5");
        const double size = std::abs(before) + std::abs(t5) + std::abs(valueOf(receipt, "ALiBi")) +
                            std::abs(valueOf(receipt, "additive"));
        EXPECT_NEAR(after - before, t5, 8 * kFloatEpsilon * size);
        EXPECT_EQ(receipt.score, after);
      }
}

}  // namespace
}  // namespace headscope::attention::test
