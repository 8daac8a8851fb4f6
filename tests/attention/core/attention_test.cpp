#include "attention/core/attention.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stop_token>
#include <thread>

#include "tests/attention/core/attention_reference.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

/// Compares every element of the output, within the bound that the reference derives.
void expectSameOutput(const Problem& p, const AttentionResult& result) {
  const Reference reference = referenceAttention(p);
  expectWithin(reference.output, result.output.data(), result.output.rows(), result.output.cols(), "output");
}

TEST(Attention, MatchesTheDefinitionOnRandomProblems) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Problem p = randomProblem(seed);
    SCOPED_TRACE(p.text);
    const Reference expected = referenceAttention(p);
    const AttentionResult found = solve(p);
    const Index n = p.x.rows(), m = p.context.rows();
    expectWithin(expected.scores, found.scores.data(), n, m, "scores");
    expectWithin(expected.weights, found.weights.data(), n, m, "weights");
    expectWithin(expected.lse, found.lse.data(), 1, n, "lse");
    expectWithin(expected.headOutput, found.headOutput.data(), n, p.config.headDim, "headOutput");
    expectWithin(expected.output, found.output.data(), n, p.config.modelDim, "output");
    if (HasFailure()) return;
  }
}

TEST(Attention, RowsSumToOneOrZero) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Problem p = randomProblem(seed);
    const AttentionResult result = solve(p);
    for (Index h = 0; h < p.config.heads; ++h)
      for (Index row = 0; row < p.x.rows(); ++row) {
        bool any = false;
        double sum = 0;
        for (Index j = 0; j < p.context.rows(); ++j) {
          const bool seen = visible(p.mask, h, row, j);
          any |= seen;
          sum += result.weights.at(h, row, j);
          if (!seen) {
            EXPECT_EQ(result.weights.at(h, row, j), 0) << p.text << " at " << h << ", " << row << ", " << j;
          }
        }
        // One rounding per weight, and those of the sum that divides them.
        const double tolerance = kEpsilon * static_cast<double>(p.context.rows() + 2);
        EXPECT_NEAR(sum, any ? 1.0 : 0.0, any ? tolerance : 0.0) << p.text << " at " << h << ", " << row;
      }
  }
}

TEST(Attention, FullyMaskedRowOutputsOnlyTheBias) {
  Problem p{smallConfig(), {}, gaussianMatrix(5, 20, 1), {}, {}, {}};
  p.context = p.x;
  p.projections = xavierProjections(p.config, true, 2);
  p.sight.masked = Stack(1, 5, 5);
  p.sight.masked[0].row(3).setOnes();
  p.compileSight();
  const AttentionResult result = solve(p);
  for (Index h = 0; h < p.config.heads; ++h) {
    EXPECT_EQ(result.lse(h, 3), -kInfinity);
    EXPECT_TRUE((result.weights[h].row(3).array() == 0).all());
    EXPECT_TRUE((result.headOutput[h].row(3).array() == 0).all());
  }
  EXPECT_EQ(result.output.row(3).transpose(), p.projections.o.bias);
  EXPECT_TRUE(std::isfinite(result.lse(0, 2)));

  p.projections.o.bias.resize(0);
  EXPECT_TRUE((solve(p).output.row(3).array() == 0).all());
}

TEST(Attention, HandlesNoKeysAndNoQueries) {
  const AttentionConfig config = smallConfig();
  const Projections projections = xavierProjections(config, true, 2);
  const Matrix none(0, 20), some = gaussianMatrix(3, 20, 4);
  const AttentionResult blind = attend(config, projections, some, none, {});
  EXPECT_EQ(blind.output.row(1).transpose(), projections.o.bias);
  EXPECT_EQ(blind.lse(3, 2), -kInfinity);
  const AttentionResult empty = attend(config, projections, none, some, {});
  EXPECT_EQ(empty.output.rows(), 0);
  EXPECT_EQ(empty.scores.count(), 4);
}

TEST(Attention, GroupedQueriesMatchRepeatedKvHeads) {
  for (const Index kvHeads : {1, 2, 3}) {
    AttentionConfig grouped = smallConfig();
    grouped.heads = 6;
    grouped.kvHeads = kvHeads;
    const MaskInput causal = maskFor("causal", grouped, 7, 7);
    AttentionResult few;
    few.q = splitHeads(gaussianMatrix(7, 36, 1), 6);
    few.k = splitHeads(gaussianMatrix(7, kvHeads * 6, 2), kvHeads);
    few.v = splitHeads(gaussianMatrix(7, kvHeads * 6, 3), kvHeads);
    AttentionResult many;
    many.q = few.q;
    many.k = many.v = Stack(6, 7, 6);
    for (Index h = 0; h < 6; ++h) {
      // Repeat-interleave: neighbouring query heads share a kv head.
      many.k[h] = few.k[h / (6 / kvHeads)];
      many.v[h] = few.v[h / (6 / kvHeads)];
    }
    AttentionConfig full = grouped;
    full.kvHeads = 6;
    attendHeads(grouped, causal, few);
    attendHeads(full, causal, many);
    for (Index h = 0; h < 6; ++h) {
      EXPECT_EQ(few.weights[h], many.weights[h]) << kvHeads << " kv heads, head " << h;
      EXPECT_EQ(few.headOutput[h], many.headOutput[h]) << kvHeads << " kv heads, head " << h;
    }
  }
}

TEST(Attention, PermutedTokensPermuteRowsAndColumns) {
  Problem p{smallConfig(), {}, gaussianMatrix(9, 20, 5), {}, {}, {}};
  p.context = p.x;
  p.projections = xavierProjections(p.config, true, 6);
  std::vector<Index> order(9);
  std::iota(order.begin(), order.end(), 0);
  for (Index i = 8; i > 0; --i)
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i * 5 % 7)]);
  const AttentionResult plain = solve(p);
  const Reference bounds = referenceAttention(p);
  Problem shuffled = p;
  shuffled.x = shuffled.context = p.x(order, Eigen::all);
  const AttentionResult result = solve(shuffled);
  for (Index h = 0; h < 4; ++h)
    for (Index r = 0; r < 9; ++r)
      for (Index j = 0; j < 9; ++j) {
        const Index row = order[static_cast<std::size_t>(r)], key = order[static_cast<std::size_t>(j)];
        // Both sides may differ from the definition by their bound.
        const double limit = 2 * bounds.weights[static_cast<std::size_t>((h * 9 + row) * 9 + key)].error;
        EXPECT_NEAR(result.weights.at(h, r, j), plain.weights.at(h, row, key), limit)
            << h << ", " << r << ", " << j;
      }
  expectSameOutput(shuffled, result);
}

TEST(Attention, StaysStableForScoresInTheThousands) {
  Problem p{smallConfig(), {}, gaussianMatrix(12, 20, 8) * 60, {}, {}, {}};
  p.context = p.x;
  p.projections = xavierProjections(p.config, false, 9);
  const AttentionResult result = solve(p);
  EXPECT_GT(result.scores[0].cwiseAbs().maxCoeff(), 1000);
  EXPECT_TRUE(result.output.allFinite());
  expectSameOutput(p, result);
}

TEST(Attention, DropoutAffectsOnlyWeights) {
  Problem p{smallConfig(), {}, gaussianMatrix(40, 20, 8), {}, {}, {}};
  p.context = p.x;
  p.mask = maskFor("causal", p.config, 40, 40);
  p.projections = xavierProjections(p.config, true, 9);
  const AttentionResult plain = solve(p);
  p.config.dropout = {0.25f, 11};
  const AttentionResult dropped = solve(p);
  EXPECT_EQ(plain.lse, dropped.lse);
  Index kept = 0, visibleCount = 0;
  for (Index i = 0; i < plain.scores.size(); ++i) {
    EXPECT_EQ(plain.scores.data()[i], dropped.scores.data()[i]);
    if (plain.weights.data()[i] == 0) continue;
    ++visibleCount;
    if (dropped.weights.data()[i] == 0) continue;
    ++kept;
    EXPECT_NEAR(dropped.weights.data()[i], plain.weights.data()[i] / 0.75f,
                3 * kEpsilon * plain.weights.data()[i]);
  }
  // Five standard deviations of a binomial share.
  const double share = static_cast<double>(kept) / static_cast<double>(visibleCount);
  EXPECT_NEAR(share, 0.75, 5 * std::sqrt(0.25 * 0.75 / static_cast<double>(visibleCount)));
  EXPECT_EQ(dropped.output, solve(p).output);
  p.config.dropout.seed = 12;
  EXPECT_NE(dropped.output, solve(p).output);
}

TEST(Attention, RunAfterStoppedRunIsCorrect) {
  Problem p{smallConfig(), {}, gaussianMatrix(600, 20, 8), {}, {}, {}};
  p.projections = xavierProjections(p.config, true, 9);
  const AttentionResult whole = attend(p.config, p.projections, p.x, p.x, {});
  for (const int microseconds : {0, 50, 400, 1500}) {
    std::stop_source source;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
      source.request_stop();
    });
    attend(p.config, p.projections, p.x, p.x, {}, source.get_token());
    stopper.join();
    EXPECT_EQ(attend(p.config, p.projections, p.x, p.x, {}).output, whole.output);
  }
}

TEST(Attention, SplitAndMergeAreInverse) {
  const Matrix y = gaussianMatrix(5, 12, 3);
  const Stack heads = splitHeads(y, 3);
  EXPECT_EQ(heads.at(2, 4, 1), y(4, 9));
  EXPECT_EQ(mergeHeads(heads), y);
  EXPECT_THROW(splitHeads(y, 5), std::invalid_argument);
}

TEST(Attention, RefusesWrongShapes) {
  const AttentionConfig config = smallConfig();
  const Projections projections = xavierProjections(config, false, 1);
  const Matrix x = gaussianMatrix(3, 20, 1), narrow = gaussianMatrix(3, 19, 1);
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message([&] { attend(config, projections, narrow, x, {}); }),
            "input is [3, 19], expected [rows, 20] for a weight of [24, 20]");
  MaskInput mask;
  mask.additive = Stack(1, 3, 4);
  EXPECT_EQ(message([&] { attend(config, projections, x, x, mask); }),
            "additive mask is [1, 3, 4], expected [1, 3, 3] or [4, 3, 3]");
  AttentionConfig uneven = config;
  uneven.kvHeads = 3;
  EXPECT_EQ(message([&] { attend(uneven, projections, x, x, {}); }),
            "kvHeads is 3, expected a divisor of heads (4)");
  AttentionResult mixed;
  mixed.q = Stack(4, 3, 6);
  mixed.k = Stack(2, 3, 6);
  mixed.v = Stack(2, 4, 6);
  EXPECT_EQ(message([&] { attendHeads(config, {}, mixed); }),
            "keys or values of kv head 0 are [4, 6], expected [3, 6]");
}

TEST(Attention, ResultBytesMatchActualSizes) {
  const AttentionConfig config = smallConfig();
  const Matrix x = gaussianMatrix(5, 20, 1), context = gaussianMatrix(7, 20, 2);
  const AttentionResult r = attend(config, xavierProjections(config, false, 1), x, context, {});
  const Index values = r.q.size() + r.k.size() + r.v.size() + r.scores.size() + r.weights.size() +
                       r.lse.size() + r.headOutput.size() + r.output.size();
  EXPECT_EQ(attentionResultBytes(config, 5, 7), static_cast<std::uint64_t>(values) * sizeof(float));
  const Index huge = std::numeric_limits<Index>::max();
  EXPECT_EQ(attentionResultBytes(config, huge, huge), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(attentionResultBytes(config, huge / 64, 1), std::numeric_limits<std::uint64_t>::max());
}

// Things a mask must not do: let a masked key through, change a visible score, or hide NaN.

/// Overwrites key and value rows of kv heads, and checks that rows that don't see key `j` keep every bit.
void expectNoLeak(const Problem& p, Index j, float poison) {
  AttentionResult clean = solve(p);
  AttentionResult poisoned;
  poisoned.q = clean.q;
  poisoned.k = clean.k;
  poisoned.v = clean.v;
  for (Index g = 0; g < p.config.kvHeads; ++g) {
    poisoned.k[g].row(j).setConstant(poison);
    poisoned.v[g].row(j).setConstant(poison);
  }
  attendHeads(p.config, p.mask, poisoned);
  for (Index h = 0; h < p.config.heads; ++h)
    for (Index row = 0; row < p.x.rows(); ++row) {
      if (visible(p.mask, h, row, j)) continue;
      const std::string where = p.text + ", head " + std::to_string(h) + ", row " + std::to_string(row) +
                                ", key " + std::to_string(j);
      EXPECT_EQ(clean.scores[h].row(row), poisoned.scores[h].row(row)) << where;
      EXPECT_EQ(clean.weights[h].row(row), poisoned.weights[h].row(row)) << where;
      EXPECT_EQ(clean.lse(h, row), poisoned.lse(h, row)) << where;
      EXPECT_EQ(clean.headOutput[h].row(row), poisoned.headOutput[h].row(row)) << where;
    }
}

TEST(Masking, MaskedKeyNeverLeaks) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Problem p = randomProblem(seed);
    const Index m = p.context.rows();
    for (const Index j : {Index{0}, m / 2, m - 1})
      for (const float poison : {7.5f, 1e30f, kInfinity, -kInfinity, kNaN}) expectNoLeak(p, j, poison);
    if (HasFailure()) return;
  }
}

TEST(Masking, MaskedTokenNeverLeaksThroughLargeProducts) {
  // Large enough for the blocked product, so that skipped or mixed-up blocks would show.
  AttentionConfig config = smallConfig();
  config.headDim = 33;
  const Projections projections = xavierProjections(config, true, 3);
  const Matrix x = gaussianMatrix(301, 20, 4);
  const MaskInput causal = maskFor("causal", config, 301, 301);
  const AttentionResult clean = attend(config, projections, x, x, causal);
  for (const float poison : {3.0f, kNaN, kInfinity}) {
    Matrix changed = x;
    changed.row(150).setConstant(poison);
    const AttentionResult result = attend(config, projections, changed, changed, causal);
    EXPECT_EQ(clean.output.topRows(150), result.output.topRows(150));
    EXPECT_NE(clean.output.row(151), result.output.row(151));
  }
}

TEST(Masking, VisibleNaNShowsAsNaN) {
  Problem p{smallConfig(), {}, gaussianMatrix(5, 20, 1), {}, {}, {}};
  p.mask = maskFor("causal", p.config, 5, 5);
  for (const bool capped : {false, true}) {
    if (capped) p.config.softcap = 3.0f;
    p.projections = xavierProjections(p.config, true, 2);
    p.x.row(2).setConstant(kNaN);
    const AttentionResult result = attend(p.config, p.projections, p.x, p.x, p.mask);
    EXPECT_TRUE(result.output.topRows(2).allFinite());
    for (Index row = 2; row < 5; ++row) {
      EXPECT_TRUE(std::isnan(result.lse(1, row)));
      EXPECT_TRUE(std::isnan(result.weights.at(1, row, 0)));
      EXPECT_TRUE(std::isnan(result.output(row, 0)));
      if (row < 4) {
        EXPECT_EQ(result.weights.at(1, row, row + 1), 0);
      }
    }
  }
}

TEST(Masking, MasksKeepVisibleScoresBitIdentical) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Problem p = randomProblem(seed);
    p.mask.additive = Stack();  // adds to scores by design
    const AttentionResult masked = solve(p);
    p.mask = {};
    const AttentionResult full = solve(p);
    for (Index i = 0; i < masked.scores.size(); ++i)
      if (masked.scores.data()[i] != -kInfinity) {
        EXPECT_EQ(masked.scores.data()[i], full.scores.data()[i]) << p.text << " at " << i;
      }
  }
}

}  // namespace
}  // namespace headscope::attention::test
