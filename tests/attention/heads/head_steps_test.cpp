// A head's scores step by step, sums written out, and slices of checkpoints' weights.

#include "attention/heads/head_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/core/activations.h"
#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention::test {
namespace {

AttentionResult smallResult(const AttentionConfig& config) {
  const Matrix x = Matrix::Random(5, config.modelDim);
  return attend(config, xavierProjections(config, true, 3), x, x, {});
}

AttentionConfig stepsConfig() {
  AttentionConfig config;
  config.modelDim = 16;
  config.heads = 4;
  config.kvHeads = 2;
  config.headDim = 4;
  return config;
}

TEST(HeadSteps, ScoresWithoutBiasAreScaledDotProducts) {
  const AttentionConfig config = stepsConfig();
  const AttentionResult result = smallResult(config);
  for (Index head = 0; head < 4; ++head) {
    const HeadSteps steps = headSteps(config, {}, result, head);
    EXPECT_EQ(steps.biased.size(), 0);
    EXPECT_FLOAT_EQ(steps.factor, 0.5f);
    EXPECT_LT((steps.dots * steps.factor - result.scores[head]).cwiseAbs().maxCoeff(), 1e-5f);
  }
}

TEST(HeadSteps, BiasesAndSoftCapGiveTheStoredScores) {
  AttentionConfig config = stepsConfig();
  config.alibi = true;
  config.softcap = 2.0f;
  config.sharpness = 3;
  const AttentionResult result = smallResult(config);
  const HeadSteps steps = headSteps(config, {}, result, 2);
  ASSERT_EQ(steps.biased.size(), 25);
  EXPECT_LT((steps.biased - result.scores[2]).cwiseAbs().maxCoeff(), 1e-5f);
  EXPECT_FLOAT_EQ(steps.unmasked(3, 1), steps.biased(3, 1));
  EXPECT_THROW(headSteps(config, {}, result, 4), std::invalid_argument);
}

TEST(PoolFarthest, KeepsValueFarthestFromZeroIgnoringMaskedCells) {
  Matrix values(2, 6);
  values << 1, -3, 2, 0, -std::numeric_limits<float>::infinity(), 4, 0, 0, 0, 0, 0, 0;
  const Matrix pooled = poolByMagnitude(values, 1, 3);
  ASSERT_EQ(pooled.cols(), 3);
  EXPECT_EQ(pooled(0, 0), -3);
  EXPECT_EQ(pooled(0, 1), 2);
  EXPECT_EQ(pooled(0, 2), 4);
  EXPECT_EQ(poolByMagnitude(values, 2, 6), values) << "what fits stays as it is";
}

TEST(WorkedSum, ShowsLargestProductsAndSumsTheRest) {
  const std::vector<float> a{1, 2, -3, 0.5f}, b{1, 1, 2, 1};
  const WorkedSum all = workedSum(a, b, 4);
  EXPECT_EQ(all.terms.size(), 4u);
  EXPECT_EQ(all.omitted, 0);
  EXPECT_DOUBLE_EQ(all.terms.back().running, all.total);
  const WorkedSum some = workedSum(a, b, 2);
  ASSERT_EQ(some.terms.size(), 2u);
  EXPECT_EQ(some.terms[0].at, 1);
  EXPECT_EQ(some.terms[1].at, 2);
  EXPECT_EQ(some.omitted, 2);
  EXPECT_DOUBLE_EQ(some.terms.back().running + some.rest, some.total);
  EXPECT_DOUBLE_EQ(some.total, -2.5);
  const WorkedSum sparse = workedSum(std::vector<float>{0, 2, 0, 0}, b, 3);
  EXPECT_EQ(sparse.terms.size(), 1u) << "products of 0 take no place where not all have one";
  EXPECT_EQ(sparse.omitted, 3);
  EXPECT_TRUE(sparse.nothingOmitted);
  EXPECT_FALSE(some.nothingOmitted);
  const WorkedSum none = workedSum(std::vector<float>{0, 0, 0, 0}, b, 3);
  EXPECT_TRUE(none.terms.empty() && none.nothingOmitted) << "all are 0";
  const WorkedSum broken = workedSum(std::vector<float>{0, 0, NAN, 0}, b, 0);
  EXPECT_FALSE(broken.nothingOmitted);
  EXPECT_THROW(workedSum(a, std::vector<float>{1}, 4), std::invalid_argument);
}

/// A map of one piece over numbers in memory.
MappedLinear mapOver(const std::vector<float>& numbers, Index out, Index in, bool transposed) {
  MappedLinear map{.out = out, .in = in, .transposed = transposed};
  map.pieces.push_back({reinterpret_cast<const std::uint8_t*>(numbers.data()), WeightType::f32});
  map.row = transposed ? out : in;
  return map;
}

TEST(WeightSlices, MatchTheRowsAndColumnsThatApplyUses) {
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  for (const bool transposed : {false, true}) {
    const MappedLinear map = mapOver(numbers, 3, 2, transposed);
    const Matrix whole = map.apply(Matrix::Identity(2, 2), {}).transpose();  // [out, in]
    EXPECT_EQ(weightRows(map, 1, 2), whole.middleRows(1, 2));
    EXPECT_EQ(weightColumns(map, 1, 1), whole.col(1));
    EXPECT_EQ(biasRows(map, 0, 3), Vector::Zero(3));
    EXPECT_THROW(weightRows(map, 2, 2), std::invalid_argument);
  }
}

}  // namespace
}  // namespace headscope::attention::test
