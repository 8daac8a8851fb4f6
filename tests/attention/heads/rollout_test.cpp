#include <gtest/gtest.h>

#include "attention/core/random.h"
#include "attention/heads/head_views.h"

namespace headscope::attention::test {
namespace {

/// Weights whose rows sum to 1, or to 0 in row `blind`; zero above the diagonal if `causal` is set.
Stack randomWeights(Index heads, Index n, std::uint64_t seed, bool causal, Index blind = -1) {
  Random random(seed);
  Stack weights(heads, n, n);
  for (Index h = 0; h < heads; ++h)
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j)
        weights[h](i, j) = (causal && j > i) || i == blind ? 0.0f : static_cast<float>(random.uniform());
      if (const float sum = weights[h].row(i).sum(); sum > 0) weights[h].row(i) /= sum;
    }
  return weights;
}

TEST(Rollout, SingleLayerMixesHeadMeanAndIdentity) {
  const Stack weights = randomWeights(3, 7, 1, false);
  Rollout rollout;
  EXPECT_EQ(rollout.matrix().size(), 0);
  rollout.add(weights);
  for (Index i = 0; i < 7; ++i)
    for (Index j = 0; j < 7; ++j) {
      double mean = 0;
      for (Index h = 0; h < 3; ++h) mean += static_cast<double>(weights.at(h, i, j)) / 3;
      EXPECT_NEAR(rollout.matrix()(i, j), 0.5 * mean + (i == j ? 0.5 : 0), 1e-6) << i << ", " << j;
    }
}

TEST(Rollout, RowsSumToOneAndStayCausal) {
  Rollout rollout;
  for (std::uint64_t layer = 0; layer < 5; ++layer) {
    rollout.add(randomWeights(2, 9, 10 + layer, true));
    for (Index i = 0; i < 9; ++i) {
      EXPECT_NEAR(rollout.matrix().row(i).sum(), 1, 1e-5);
      for (Index j = i + 1; j < 9; ++j) EXPECT_EQ(rollout.matrix()(i, j), 0) << i << ", " << j;
      EXPECT_GT(rollout.matrix()(i, i), 0);
    }
  }
}

TEST(Rollout, MultipliesLaterLayersFromTheLeft) {
  // In layer 1, token 1 attends to token 0; in layer 2, token 2 attends to token 1. So token 2 contains some
  // of token 0.
  Stack first(1, 3, 3), second(1, 3, 3);
  first[0] << 1, 0, 0, 1, 0, 0, 0, 0, 1;
  second[0] << 1, 0, 0, 0, 1, 0, 0, 1, 0;
  Rollout forward, backward;
  forward.add(first);
  forward.add(second);
  backward.add(second);
  backward.add(first);
  EXPECT_FLOAT_EQ(forward.matrix()(2, 0), 0.25f);
  EXPECT_EQ(backward.matrix()(2, 0), 0) << "the other way round nothing gets there";
}

TEST(Rollout, FullyMaskedRowKeepsItsToken) {
  Rollout rollout;
  rollout.add(randomWeights(2, 4, 3, false, 2));
  for (Index j = 0; j < 4; ++j) EXPECT_EQ(rollout.matrix()(2, j), j == 2 ? 1 : 0);
}

TEST(Rollout, RefusesLayersOfDifferentSize) {
  Rollout rollout;
  rollout.add(randomWeights(1, 3, 1, true));
  EXPECT_THROW(rollout.add(randomWeights(1, 4, 1, true)), std::invalid_argument);
  EXPECT_THROW(rollout.add(Stack(1, 3, 4)), std::invalid_argument);
}

}  // namespace
}  // namespace headscope::attention::test
