#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

/// One line of a receipt, computed in double precision.
struct Line {
  std::string name;
  double value = 0, score = 0;
};

/// All lines of one cell by their definitions, from only the receipt's q and k.
std::vector<Line> linesOf(const Problem& p, const ScoreReceipt& r, Index head, Index row, Index j) {
  const AttentionConfig& c = p.config;
  const Index back = c.cacheLength + row - j;
  std::vector<Line> lines;
  double s = r.q.cast<double>().dot(r.k.cast<double>());
  const auto line = [&](const char* name, double value, double score) {
    s = score;
    lines.push_back({name, value, score});
  };
  const double scale = c.scale ? *c.scale : 1 / std::sqrt(static_cast<double>(c.headDim));
  line("scale", scale, s * scale);
  if (c.sharpness != 1) line("sharpness", c.sharpness, s * c.sharpness);
  if (c.alibi) {
    const double bias = -alibiSlope(c.heads, head) * std::abs(static_cast<double>(back));
    line("ALiBi", bias, s + bias);
  }
  if (c.t5) {
    const double bias = t5Bias(*c.t5, c.heads, head, back);
    line("T5", bias, s + bias);
  }
  if (c.softcap) line("soft-cap", c.softcap, c.softcap * std::tanh(s / c.softcap));
  if (!p.mask.additive.empty()) {
    const double added = p.mask.additive.at(head % p.mask.additive.count(), row, j);
    line("additive", added, s + added);
  }
  const bool seen = sees(p, head, row, j);
  line("mask", seen ? 0 : -kDoubleInfinity, seen ? s : -kDoubleInfinity);
  return lines;
}

void expectNear(double expected, double found, double limit, const std::string& what) {
  if (std::isinf(expected)) {
    EXPECT_EQ(found, expected) << what;
  } else {
    EXPECT_NEAR(found, expected, limit) << what;
  }
}

/// Expects every line, in order, with the value by its definition; the last score is the stored one.
void expectLines(const Problem& p, const ScoreReceipt& r, const std::vector<Line>& lines) {
  EXPECT_EQ(r.product, Vector(r.q.cwiseProduct(r.k)));
  const double products = r.product.cwiseAbs().sum() *
                          std::abs(static_cast<double>(p.config.effectiveScale()) * p.config.sharpness);
  // The products are summed in another order, then each line is rounded; lines before the scale have no
  // separate limit.
  double limit = kFloatEpsilon * static_cast<double>(p.config.headDim + 4) *
                 std::max<double>(products, r.product.cwiseAbs().sum());
  ASSERT_EQ(r.steps.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const ScoreStep& step = r.steps[i];
    EXPECT_EQ(step.term->name, line.name);
    if (std::isfinite(line.value)) limit += 4 * kFloatEpsilon * std::abs(line.value);
    if (std::isfinite(line.score)) limit += 8 * kFloatEpsilon * std::abs(line.score);
    expectNear(line.value, step.value, 4 * kFloatEpsilon * std::abs(line.value), "value of " + line.name);
    expectNear(line.score, step.score, limit, "score after " + line.name);
  }
  EXPECT_EQ(r.visible, !std::isinf(lines.back().score));
  expectNear(lines.back().score, r.score, limit, "the stored score");
}

/// Expects softmax and dropout of one row of receipts to follow from the lines' scores.
void expectWeights(const Problem& p, const std::vector<ScoreReceipt>& row,
                   const std::vector<double>& scores) {
  double max = -kDoubleInfinity, sum = 0, spread = 1;
  for (const double score : scores) max = std::max(max, score);
  for (const double score : scores) {
    sum += score == -kDoubleInfinity ? 0 : std::exp(score - max);
    if (std::isfinite(score)) spread = std::max({spread, std::abs(score), max - score});
  }
  const float dropout = p.config.dropout.probability;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const ScoreReceipt& r = row[j];
    if (scores[j] == -kDoubleInfinity) {
      EXPECT_EQ(r.exponential, 0);
      EXPECT_EQ(r.weight, 0);
      continue;
    }
    // Errors of scores pass through the exponential once for the key and once for the sum.
    const double relative =
        kFloatEpsilon * static_cast<double>(p.config.headDim + 32 + std::ssize(row)) * 8 * spread;
    const double weight = std::exp(scores[j] - max) / sum;
    EXPECT_NEAR(r.exponential / r.rowSum, weight, relative * weight + 1e-37);
    if (dropout == 0 || r.weight != 0) {
      EXPECT_NEAR(r.weight, weight / (1 - dropout), relative * weight / (1 - dropout) + 1e-37);
    }
  }
}

TEST(Receipt, MatchesTheDefinitions) {
  std::map<std::string, int> lines;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Problem p = randomProblem(seed);
    if (seed % 4 == 0) p.config.dropout = {0.3f, seed};
    const AttentionResult result = attend(p.config, p.projections, p.x, p.context, p.mask);
    for (Index h = 0; h < p.config.heads; ++h)
      for (Index row = 0; row < p.x.rows(); row += 3) {
        std::vector<ScoreReceipt> receipts;
        std::vector<double> scores;
        for (Index j = 0; j < p.context.rows(); ++j) {
          SCOPED_TRACE(p.text + " at " + std::to_string(h) + ", " + std::to_string(row) + ", " +
                       std::to_string(j));
          receipts.push_back(explainScore(p.config, p.mask, result, h, row, j));
          const ScoreReceipt& r = receipts.back();
          EXPECT_EQ(r.score, result.scores.at(h, row, j));
          EXPECT_EQ(r.weight, result.weights.at(h, row, j));
          EXPECT_EQ(r.k.transpose(), result.k[p.config.kvHeadOf(h)].row(j));
          const std::vector<Line> expected = linesOf(p, r, h, row, j);
          expectLines(p, r, expected);
          for (const Line& line : expected) ++lines[line.name];
          scores.push_back(expected.back().score);
          if (HasFailure()) return;
        }
        SCOPED_TRACE(p.text + " at " + std::to_string(h) + ", " + std::to_string(row));
        expectWeights(p, receipts, scores);
        if (HasFailure()) return;
      }
  }
  for (const ScoreTerm& term : scoreTerms()) EXPECT_GT(lines[std::string(term.name)], 100) << term.name;
}

TEST(Receipt, RefusesIndicesOutOfRange) {
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

TEST(Receipt, RowEntropyIsInNats) {
  EXPECT_NEAR(rowEntropy(Eigen::RowVectorXf::Constant(8, 0.125f)), std::log(8.0), 4 * kFloatEpsilon);
  EXPECT_EQ(rowEntropy(Eigen::RowVectorXf::Unit(5, 2)), 0);
  EXPECT_EQ(rowEntropy(Eigen::RowVectorXf::Zero(5)), 0);
  EXPECT_TRUE(
      std::isnan(rowEntropy(Eigen::RowVectorXf::Constant(2, std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
}  // namespace headscope::attention::test
