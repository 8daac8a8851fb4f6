// Sinks: a score per head that belongs to no key. Also values narrower than keys.

#include <gtest/gtest.h>

#include <cmath>

#include "attention/cache/kv_cache.h"
#include "attention/core/attention.h"
#include "attention/core/head_map.h"
#include "attention/core/random.h"
#include "tests/attention/core/textbook.h"
#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {
namespace {

struct SinkProblem {
  AttentionConfig config;
  MaskInput mask;
  Stack q, k, v;

  explicit SinkProblem(Index n, Index valueDim = 6) {
    config.modelDim = 8;
    config.heads = 4;
    config.kvHeads = 2;
    config.headDim = 6;
    config.sinks = {-2, 0.5f, 3, 90};
    q = random(4, n, 6, 1), k = random(2, n, 6, 2), v = random(2, n, valueDim, 3);
    mask = maskFor("window(50)", config, n, n);
  }

  static Stack random(Index count, Index rows, Index cols, std::uint64_t seed) {
    Stack stack(count, rows, cols);
    Random random(seed);
    for (Index i = 0; i < stack.size(); ++i) stack.data()[i] = random.gaussian();
    return stack;
  }

  /// The weights of all keys, in double precision.
  Eigen::RowVectorXd weights(Index head, Index row) const {
    Eigen::RowVectorXd all(k.rows());
    for (Index key = 0; key < k.rows(); ++key) all[key] = exponential(head, row, key);
    return all / (all.sum() + std::exp(double{config.sinks[static_cast<std::size_t>(head)]} - 90));
  }
  double weight(Index head, Index row, Index key) const { return weights(head, row)[key]; }
  double exponential(Index head, Index row, Index key) const {
    if (!visible(mask, head, row, key)) return 0;
    const double dot = q[head].row(row).cast<double>().dot(k[config.kvHeadOf(head)].row(key).cast<double>());
    return std::exp(dot / std::sqrt(6.0) - 90);
  }
};

AttentionResult solve(const SinkProblem& p, bool textbook, Keep keep = Keep::scores) {
  AttentionResult result;
  result.q = p.q, result.k = p.k, result.v = p.v;
  std::vector<MatrixView> keys, values;
  for (Index g = 0; g < 2; ++g) keys.push_back(p.k[g]), values.push_back(p.v[g]);
  if (textbook)
    attendHeadsTextbook(p.config, p.mask, keys, values, result);
  else
    attendHeads(p.config, p.mask, keys, values, result, {}, keep);
  return result;
}

void expectDefinition(const SinkProblem& p, const AttentionResult& result, Index first = 0) {
  for (Index head = 0; head < 4; ++head)
    for (Index i = 0; i < result.weights.rows(); ++i) {
      const Eigen::RowVectorXd all = p.weights(head, first + i);
      Eigen::RowVectorXd output = Eigen::RowVectorXd::Zero(p.v.cols());
      double rest = 1;
      for (Index key = 0; key < result.weights.cols(); ++key) {
        const double expected = all[key];
        EXPECT_NEAR(result.weights.at(head, i, key), expected, 1e-6 + 1e-5 * expected);
        output += expected * p.v[p.config.kvHeadOf(head)].row(key).cast<double>();
        rest -= expected;
      }
      EXPECT_LE((result.headOutput[head].row(i).cast<double>() - output).cwiseAbs().maxCoeff(), 1e-5);
      EXPECT_NEAR(sinkShare(p.config, result, head, i), rest, 1e-5);
    }
}

TEST(Sinks, TakeTheirShareOnEveryPath) {
  for (const Index n : {3, 11, 300}) {
    for (const Index valueDim : {6, 4}) {
      const SinkProblem p(n, valueDim);
      expectDefinition(p, solve(p, true));
      expectDefinition(p, solve(p, false));
      expectDefinition(p, solve(p, false, Keep::weights));
    }
  }
}

TEST(Sinks, AreAppliedWhenDecodingTokenByToken) {
  for (const Index valueDim : {6, 4}) {
    const SinkProblem p(9, valueDim);
    KvCache cache(p.config, 9);
    for (Index i = 0; i < 9; ++i) {
      const auto row = [&](const Stack& all) {
        Stack one(all.count(), 1, all.cols());
        for (Index h = 0; h < all.count(); ++h) one[h] = all[h].row(i);
        return one;
      };
      MaskInput mask;
      mask.formula = maskPart(p.mask.formula, i, 1, i + 1);
      expectDefinition(p, cache.appendHeads(p.config, row(p.q), row(p.k), row(p.v), mask), i);
    }
  }
}

TEST(Sinks, HeadMapAccountsForSinkShare) {
  const SinkProblem p(200);
  for (const Index head : {1, 2})
    for (const Index factor : {1, 64}) {
      HeadMap map({p.config, head, p.q[head], p.k[head / 2], p.mask});
      const Matrix mean = map.weights({0, 0, 200, 200, factor}, Pooling::mean);
      const Index first = factor == 1 ? 32 : 0;  // the block of key 32
      double expected = 0;
      for (Index row = 64; row < 64 + factor; ++row)
        expected += p.weights(head, row).segment(first, factor).sum();
      EXPECT_NEAR(mean(64 / factor, 32 / factor), expected / static_cast<double>(factor * factor), 1e-6);
    }
}

TEST(Sinks, ReceiptIncludesSinkInDenominator) {
  const SinkProblem p(7);
  const AttentionResult result = solve(p, false);
  for (const Index head : {0, 2, 3}) {
    const ScoreReceipt receipt = explainScore(p.config, p.mask, result, head, 5, 3);
    EXPECT_EQ(receipt.sink, p.config.sinks[static_cast<std::size_t>(head)]);
    EXPECT_NEAR(receipt.exponential / receipt.rowSum, receipt.weight, 1e-6);
    EXPECT_NEAR(receipt.weight, p.weight(head, 5, 3), 1e-6);
  }
}

TEST(Sinks, RequireOneValuePerHead) {
  AttentionConfig config = SinkProblem(2).config;
  config.sinks.pop_back();
  EXPECT_EQ(validate(config).error().message, "sinks is a list of 3, expected one for each of the 4 heads");
  config.sinks = {};
  config.slopes = {1};
  EXPECT_EQ(validate(config).error().message, "slopes is a list of 1, expected one for each of the 4 heads");
}

}  // namespace
}  // namespace headscope::attention::test
