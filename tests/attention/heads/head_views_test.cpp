#include "attention/heads/head_views.h"

#include <gtest/gtest.h>

#include "attention/core/projections.h"
#include "attention/core/random.h"
#include "attention/heads/vector_geometry.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

MatrixView viewOf(const Matrix& matrix) {
  return {matrix.data(), matrix.rows(), matrix.cols()};
}

TEST(HeadViews, NormsMatchTheWrittenVectors) {
  Random random(2);
  Matrix v(5, 3), o(7, 3);
  for (Matrix* each : {&v, &o})
    for (Index i = 0; i < each->size(); ++i) each->data()[i] = random.gaussian();
  const Vector norms = writtenNorms(viewOf(v), o);
  const Matrix written = v * o.transpose();
  for (Index key = 0; key < 5; ++key) EXPECT_NEAR(norms[key], written.row(key).norm(), 1e-5f);
  EXPECT_THROW((void)writtenNorms(viewOf(v), Matrix::Zero(7, 4)), std::invalid_argument);
}

TEST(HeadViews, ValueWeightedRowsSumToOne) {
  Matrix weights(3, 3);
  weights << 1, 0, 0, 0.5f, 0.5f, 0, 0.2f, 0.3f, 0.5f;
  const Matrix out = valueWeighted(viewOf(weights), Vector{{1, 3, 0}});
  EXPECT_FLOAT_EQ(out(1, 1), 0.75f);
  EXPECT_FLOAT_EQ(out(2, 0), 0.2f / 1.1f);
  EXPECT_EQ(out(2, 2), 0) << "nothing is written for it";
  for (Index row = 0; row < 3; ++row) EXPECT_FLOAT_EQ(out.row(row).sum(), 1);
  EXPECT_TRUE(valueWeighted(viewOf(weights), Vector::Zero(3)).isZero(0));
}

TEST(HeadViews, RenormalisesRowsWithoutTheFirstToken) {
  Matrix weights(2, 3);
  weights << 1, 0, 0, 0.8f, 0.15f, 0.05f;
  const Matrix out = withoutFirst(viewOf(weights));
  EXPECT_TRUE(out.row(0).isZero(0)) << "it looked at nothing else";
  EXPECT_FLOAT_EQ(out(1, 1), 0.75f);
  EXPECT_FLOAT_EQ(out(1, 2), 0.25f);
}

TEST(HeadViews, ComputesMeanAndMaxOverHeads) {
  Stack heads(2, 1, 2);
  heads[0] << 0.25f, 0.75f;
  heads[1] << 1, 0;
  EXPECT_FLOAT_EQ(meanOverHeads(heads)(0, 0), 0.625f);
  EXPECT_FLOAT_EQ(maxOverHeads(heads)(0, 0), 1);
  EXPECT_FLOAT_EQ(maxOverHeads(heads)(0, 1), 0.75f);
}

TEST(HeadLikeness, IsOneForEqualHeadsAndFallsWithOverlap) {
  Matrix a = Matrix::Identity(4, 4), b = Matrix::Zero(4, 4), c = Matrix::Constant(4, 4, 0.25f);
  b.col(0).setOnes();
  const std::vector<Matrix> heads{a, a, b, c};
  const Matrix cosine = cosineSimilarity(heads), shannon = jensenShannonSimilarity(heads);
  for (const Matrix* likeness : {&cosine, &shannon}) {
    EXPECT_NEAR((*likeness)(0, 1), 1, 1e-6f);
    EXPECT_EQ(*likeness, likeness->transpose());
  }
  EXPECT_NEAR(cosine(0, 2), 1 / 4.0f, 1e-6f) << "they share one of four cells";
  EXPECT_NEAR(shannon(0, 2), 0.25f, 1e-6f) << "three of four rows are a whole bit apart";
  EXPECT_NEAR(cosine(0, 3), 0.5f, 1e-6f);
}

TEST(HeadLikeness, OrderPutsSimilarHeadsTogether) {
  // Two families, shuffled: 0, 2, 4 are alike and so are 1, 3.
  Matrix likeness = Matrix::Constant(5, 5, 0.1f);
  for (const Index a : {0, 2, 4})
    for (const Index b : {0, 2, 4}) likeness(a, b) = 0.8f;
  likeness(1, 3) = likeness(3, 1) = 0.9f;
  likeness(0, 4) = likeness(4, 0) = 0.95f;
  likeness.diagonal().setOnes();
  const std::vector<Index> order = similarityOrder(likeness);
  ASSERT_EQ(order.size(), 5u);
  const auto at = [&](Index head) { return std::ranges::find(order, head) - order.begin(); };
  EXPECT_EQ(std::abs(at(1) - at(3)), 1);
  EXPECT_EQ(std::abs(at(0) - at(4)), 1);
  EXPECT_LE(std::abs(at(2) - at(0)), 2);
  EXPECT_THAT(similarityOrder(Matrix::Identity(1, 1)), ElementsAre(0));
  EXPECT_TRUE(similarityOrder(Matrix()).empty());
}

TEST(HeadLikeness, SamplesRowsEvenly) {
  Matrix rows(6, 1);
  rows << 0, 1, 2, 3, 4, 5;
  EXPECT_EQ(evenlySpacedRows(viewOf(rows), 3), (Matrix(3, 1) << 1, 3, 5).finished());
  EXPECT_EQ(evenlySpacedRows(viewOf(rows), 100), rows);
}

TEST(WeightInit, NormalHasItsDeviationAndXavierGainScales) {
  AttentionConfig config;
  config.modelDim = 128;
  config.heads = config.kvHeads = 4;
  config.headDim = 32;
  const Projections normal = normalProjections(config, true, 3, 2);
  const double deviation = std::sqrt(normal.q.weight.cast<double>().array().square().mean());
  // For 16,384 draws, the estimated deviation itself has a deviation of 0.04 / √32,768.
  EXPECT_NEAR(deviation, 0.04, 5 * 0.04 / std::sqrt(2 * 16384.0));
  const Projections plain = xavierProjections(config, true, 3), twice = scaledXavier(config, true, 3, 2);
  EXPECT_EQ(twice.o.weight, Matrix(plain.o.weight * 2));
  EXPECT_EQ(twice.o.bias, plain.o.bias) << "biases stay";
  EXPECT_EQ(normal.k.bias, plain.k.bias);
  EXPECT_NE(normal.q.weight, normal.k.weight);
}

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
