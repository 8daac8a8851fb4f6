#include "attention/core/projections.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headscope::attention::test {
namespace {

AttentionConfig config() {
  AttentionConfig c;
  c.modelDim = 48;
  c.heads = 6;
  c.kvHeads = 2;
  c.headDim = 16;
  return c;
}

TEST(Projections, LinearMultipliesByTransposeAndAddsBias) {
  Linear linear;
  linear.weight = Matrix{{1, 2}, {3, 4}, {5, 6}};
  const Matrix x{{1, 10}};
  EXPECT_EQ(linear.apply(x), (Matrix{{21, 43, 65}}));
  linear.bias = Vector{{1, 2, 3}};
  EXPECT_EQ(linear.apply(x), (Matrix{{22, 45, 68}}));
  EXPECT_THROW(linear.apply(Matrix::Zero(1, 3)), std::invalid_argument);
}

TEST(Projections, XavierFillsItsRange) {
  const Projections p = xavierProjections(config(), true, 7);
  EXPECT_NO_THROW(requireProjectionShapes(config(), p));
  for (const Linear* map : {&p.q, &p.k, &p.v, &p.o}) {
    const auto in = static_cast<double>(map->weight.cols()), out = static_cast<double>(map->weight.rows());
    const double limit = std::sqrt(6 / (in + out));
    EXPECT_LE(map->weight.cwiseAbs().maxCoeff(), limit);
    EXPECT_GT(map->weight.maxCoeff(), 0.9 * limit);
    EXPECT_LT(map->weight.minCoeff(), -0.9 * limit);
    // The mean of N uniforms has the deviation limit/√(3N); five of them are allowed.
    EXPECT_NEAR(map->weight.mean(), 0, 5 * limit / std::sqrt(3 * in * out));
    EXPECT_LE(map->bias.cwiseAbs().maxCoeff(), 1 / std::sqrt(in));
    EXPECT_GT(map->bias.cwiseAbs().maxCoeff(), 0);
  }
}

TEST(Projections, SameSeedGivesSameWeightsWithOrWithoutBias) {
  const Projections with = xavierProjections(config(), true, 7),
                    without = xavierProjections(config(), false, 7);
  EXPECT_EQ(with.q.weight, without.q.weight);
  EXPECT_EQ(with.o.weight, without.o.weight);
  EXPECT_EQ(without.q.bias.size(), 0);
  EXPECT_NE(with.k.weight, with.v.weight);
  EXPECT_NE(with.q.weight, xavierProjections(config(), true, 8).q.weight);
}

TEST(Projections, RefusesWrongShapes) {
  const auto message = [](const Projections& p) -> std::string {
    try {
      requireProjectionShapes(config(), p);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  Projections p = xavierProjections(config(), true, 7);
  EXPECT_EQ(message(p), "");
  p.o.bias = Vector::Zero(47);
  EXPECT_EQ(message(p), "o bias is [47], expected [48]");
  p.k.weight = Matrix::Zero(96, 48);
  EXPECT_EQ(message(p), "k projection is [96, 48], expected [32, 48]");
}

}  // namespace
}  // namespace headscope::attention::test
