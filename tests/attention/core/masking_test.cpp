// Things a mask must not do: let a masked key through, change a visible score, or hide NaN.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

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
