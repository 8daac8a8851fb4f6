#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/core/attention.h"
#include "attention/core/random.h"
#include "attention/masks/statistics.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

constexpr Index kHeads = 3, kQueries = 5, kKeys = 7, kHeadDim = 4;

/// Weights and outputs as from some mask: some keys without weight, some rows that see nothing.
AttentionResult randomResult(Random& random) {
  AttentionResult result;
  result.weights = Stack(kHeads, kQueries, kKeys);
  result.headOutput = Stack(kHeads, kQueries, kHeadDim);
  for (Index head = 0; head < kHeads; ++head)
    for (Index row = 0; row < kQueries; ++row) {
      if (pick(random, 6) == 0) continue;
      for (Index key = 0; key < kKeys; ++key)
        if (pick(random, 3) > 0)
          result.weights[head](row, key) = static_cast<float>(random.uniform()) + 0.01F;
      const float sum = result.weights[head].row(row).sum();
      if (sum > 0) result.weights[head].row(row) /= sum;
      for (Index t = 0; t < kHeadDim; ++t)
        result.headOutput[head](row, t) = static_cast<float>(random.gaussian());
    }
  return result;
}

double entropyOf(const Stack& weights, Index head, Index row) {
  double entropy = 0;
  for (Index key = 0; key < weights.cols(); ++key) {
    const double weight = weights.at(head, row, key);
    if (weight > 0) entropy -= weight * std::log(weight);
  }
  return entropy;
}

TEST(CompareMasks, MatchesTheDefinitionsRowByRow) {
  Random random(5);
  for (int round = 0; round < 50; ++round) {
    const AttentionResult a = randomResult(random), b = randomResult(random);
    const MaskComparison comparison = compareMasks(a, b);
    ASSERT_EQ(comparison.movedMass.rows(), kHeads);
    ASSERT_EQ(comparison.movedMass.cols(), kQueries);
    for (Index head = 0; head < kHeads; ++head)
      for (Index row = 0; row < kQueries; ++row) {
        double moved = 0, from = 0, change = 0;
        for (Index key = 0; key < kKeys; ++key)
          moved +=
              std::abs(static_cast<double>(a.weights.at(head, row, key)) - b.weights.at(head, row, key)) / 2;
        for (Index t = 0; t < kHeadDim; ++t) {
          const double before = a.headOutput.at(head, row, t), after = b.headOutput.at(head, row, t);
          from += before * before;
          change += (before - after) * (before - after);
        }
        EXPECT_NEAR(comparison.movedMass(head, row), moved, kKeys * kEpsilon);
        EXPECT_NEAR(comparison.entropyChange(head, row),
                    entropyOf(b.weights, head, row) - entropyOf(a.weights, head, row), 4 * kEpsilon);
        const float found = comparison.outputChange(head, row);
        if (change == 0) {
          EXPECT_EQ(found, 0);
        } else if (from == 0) {
          EXPECT_EQ(found, std::numeric_limits<float>::infinity());
        } else {
          const double expected = std::sqrt(change / from);
          // Two norms of a few terms, and the difference before one of them.
          EXPECT_NEAR(found, expected, 2 * kHeadDim * kEpsilon * (1 + expected));
        }
      }
  }
}

TEST(CompareMasks, EqualResultsShowNoChange) {
  Random random(6);
  const AttentionResult result = randomResult(random);
  const MaskComparison comparison = compareMasks(result, result);
  EXPECT_TRUE(comparison.movedMass.isZero(0));
  EXPECT_TRUE(comparison.entropyChange.isZero(0));
  EXPECT_TRUE(comparison.outputChange.isZero(0));
}

/// One head, one row, two keys.
AttentionResult rowOf(float first, float second, float output) {
  AttentionResult result;
  result.weights = Stack(1, 1, 2);
  result.weights[0] << first, second;
  result.headOutput = Stack(1, 1, 1);
  result.headOutput[0] << output;
  return result;
}

TEST(CompareMasks, MeasuresReachTheirExtremes) {
  MaskComparison all = compareMasks(rowOf(1, 0, 2), rowOf(0, 1, -2));
  EXPECT_EQ(all.movedMass(0, 0), 1) << "all of the weight reads elsewhere";
  EXPECT_EQ(all.entropyChange(0, 0), 0);
  EXPECT_EQ(all.outputChange(0, 0), 2);
  all = compareMasks(rowOf(1, 0, 2), rowOf(0.5F, 0.5F, 1));
  EXPECT_EQ(all.movedMass(0, 0), 0.5F);
  EXPECT_NEAR(all.entropyChange(0, 0), std::log(2.0), kEpsilon);
  EXPECT_EQ(all.outputChange(0, 0), 0.5F);
}

TEST(CompareMasks, HandlesFullyMaskedRows) {
  const AttentionResult dead = rowOf(0, 0, 0), alive = rowOf(0.25F, 0.75F, 3);
  EXPECT_EQ(compareMasks(alive, dead).movedMass(0, 0), 0.5F);
  EXPECT_EQ(compareMasks(dead, alive).movedMass(0, 0), 0.5F);
  EXPECT_EQ(compareMasks(alive, dead).outputChange(0, 0), 1);
  EXPECT_EQ(compareMasks(dead, alive).outputChange(0, 0), std::numeric_limits<float>::infinity());
  EXPECT_EQ(compareMasks(dead, dead).movedMass(0, 0), 0);
  EXPECT_EQ(compareMasks(dead, dead).entropyChange(0, 0), 0);
  EXPECT_EQ(compareMasks(dead, dead).outputChange(0, 0), 0);
}

/// A mask that hides keys moves at least the weight they had.
TEST(CompareMasks, HidingKeysMovesTheirWeight) {
  Problem problem = randomProblem(3);
  problem.config.dropout = {};
  const Index n = problem.x.rows(), m = problem.context.rows();
  const MaskInput causal = maskFor("causal", problem.config, n, m);
  const AttentionResult open =
      attend(problem.config, problem.projections, problem.x, problem.context, causal);
  const MaskInput hidden = maskFor("causal & !sinks(1)", problem.config, n, m);
  const AttentionResult closed =
      attend(problem.config, problem.projections, problem.x, problem.context, hidden);
  const MaskComparison comparison = compareMasks(open, closed);
  for (Index head = 0; head < problem.config.heads; ++head)
    for (Index row = 0; row < n; ++row) {
      const bool sees = std::isfinite(closed.lse(head, row));
      const float first = open.weights.at(head, row, 0);
      // The first key's weight goes to the others, or is lost if there are none.
      EXPECT_NEAR(comparison.movedMass(head, row), sees ? first : open.weights[head].row(row).sum() / 2,
                  static_cast<float>(4 * m) * kEpsilon);
    }
}

TEST(CompareMasks, RefusesMismatchedShapes) {
  Random random(7);
  const AttentionResult a = randomResult(random);
  AttentionResult b = a;
  b.weights = Stack(kHeads, kQueries, kKeys + 1);
  EXPECT_THROW(compareMasks(a, b), std::invalid_argument);
  b = a;
  b.headOutput = Stack(kHeads, kQueries + 1, kHeadDim);
  EXPECT_THROW(compareMasks(a, b), std::invalid_argument);
  b = a;
  b.weights = Stack(kHeads + 1, kQueries, kKeys);
  EXPECT_THROW(compareMasks(a, b), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
