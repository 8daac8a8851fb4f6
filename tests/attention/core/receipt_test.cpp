#include "attention/core/receipt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/attention/core/attention_reference.h"

namespace headscope::attention::test {
namespace {

constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void expectTermsLeadToTheScore(const Problem& p, const ScoreReceipt& r) {
  EXPECT_EQ(r.product, Vector(r.q.cwiseProduct(r.k)));
  if (!r.visible) {
    EXPECT_EQ(r.score, -kInfinity);
    EXPECT_EQ(r.exponential, 0);
    EXPECT_EQ(r.weight, 0);
    return;
  }
  // The stored dot product may add its terms in another order than the receipt's sum; each later
  // step is rounded on either side.
  const float magnitude = r.product.cwiseAbs().sum();
  const float dot = kEpsilon * static_cast<float>(p.config.headDim + 2) * magnitude * std::abs(r.scale);
  const float steps =
      8 * kEpsilon * (std::abs(r.scaled) + std::abs(r.alibi) + std::abs(r.additive) + std::abs(r.score));
  EXPECT_NEAR(r.scaled, r.product.sum() * r.scale, dot);
  EXPECT_NEAR(r.score, r.capped + r.additive, dot + steps);
  if (!p.config.softcap) {
    EXPECT_EQ(r.capped, r.scaled + r.alibi);
  }
  EXPECT_LE(r.alibi, 0);
  // Both sums add their terms in an order of their own.
  const float terms = kEpsilon * static_cast<float>(p.context.rows() + 16);
  EXPECT_NEAR(r.exponential / r.rowSum, r.weight, terms * r.weight);
  EXPECT_LE(r.score, r.rowMax);
}

TEST(Receipt, agreesWithStoredScoresAndWeights) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Problem p = randomProblem(seed);
    const AttentionResult result = attend(p.config, p.projections, p.x, p.context, p.mask);
    for (Index h = 0; h < p.config.heads; ++h)
      for (Index row = 0; row < p.x.rows(); row += 3) {
        double exponentials = 0;
        for (Index j = 0; j < p.context.rows(); ++j) {
          SCOPED_TRACE(p.text + " at " + std::to_string(h) + ", " + std::to_string(row) + ", " +
                       std::to_string(j));
          const ScoreReceipt r = explainScore(p.config, p.mask, result, h, row, j);
          EXPECT_EQ(r.score, result.scores.at(h, row, j));
          EXPECT_EQ(r.weight, result.weights.at(h, row, j));
          EXPECT_EQ(r.k.transpose(), result.k[p.config.kvHeadOf(h)].row(j));
          EXPECT_EQ(r.visible, visible(p.config, p.mask, h, row, j));
          expectTermsLeadToTheScore(p, r);
          exponentials += r.exponential;
          if (HasFailure()) return;
        }
        const ScoreReceipt last = explainScore(p.config, p.mask, result, h, row, 0);
        EXPECT_NEAR(last.rowSum, exponentials,
                    kEpsilon * static_cast<double>(p.context.rows()) * exponentials);
      }
  }
}

TEST(Receipt, wrongIndicesThrow) {
  const Problem p = randomProblem(1);
  const AttentionResult result = attend(p.config, p.projections, p.x, p.context, p.mask);
  const auto explain = [&](Index h, Index row, Index j) {
    explainScore(p.config, p.mask, result, h, row, j);
  };
  EXPECT_NO_THROW(explain(0, 0, 0));
  EXPECT_THROW(explain(p.config.heads, 0, 0), std::invalid_argument);
  EXPECT_THROW(explain(0, -1, 0), std::invalid_argument);
  EXPECT_THROW(explain(0, p.x.rows(), 0), std::invalid_argument);
  EXPECT_THROW(explain(0, 0, p.context.rows()), std::invalid_argument);
}

TEST(Receipt, entropyInNats) {
  EXPECT_NEAR(rowEntropy(Eigen::RowVectorXf::Constant(8, 0.125f)), std::log(8.0), 4 * kEpsilon);
  EXPECT_EQ(rowEntropy(Eigen::RowVectorXf::Unit(5, 2)), 0);
  EXPECT_EQ(rowEntropy(Eigen::RowVectorXf::Zero(5)), 0);
  EXPECT_TRUE(
      std::isnan(rowEntropy(Eigen::RowVectorXf::Constant(2, std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace headscope::attention::test
