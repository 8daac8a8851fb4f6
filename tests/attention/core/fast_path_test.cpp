// The fast path compared with the textbook, which is the definition.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attention/core/attention.h"
#include "attention/masks/plain_rules.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/core/heads_problem.h"
#include "tests/attention/core/textbook.h"
#include "tests/attention/masks/random_mask.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

/// Compares everything that each Keep keeps. For small problems, also checks the textbook's visibility cell
/// by cell.
void expectFastIsTextbook(const HeadsProblem& p) {
  const AttentionResult expected = solveTextbook(p);
  const HeadsLimits limits = limitsOf(p, expected);
  for (const Keep keep : {Keep::output, Keep::weights, Keep::scores}) {
    const AttentionResult found = solveFast(p, keep);
    EXPECT_EQ(found.weights.size(), keep == Keep::output ? 0 : expected.weights.size());
    EXPECT_EQ(found.scores.size(), keep == Keep::scores ? expected.scores.size() : 0);
    expectSameHeads(p, limits, expected, found, "keep " + std::to_string(static_cast<int>(keep)));
  }
  if (p.queries() * p.keys() > 1000) return;
  for (Index head = 0; head < p.config.heads; ++head)
    for (Index row = 0; row < p.queries(); ++row)
      for (Index j = 0; j < p.keys(); ++j)
        if (!visible(p.mask, head, row, j) && expected.scores.at(head, row, j) != -kInfinity) {
          ADD_FAILURE() << p.text << ": hidden cell [" << head << ", " << row << ", " << j << "] has a score";
          return;
        }
}

/// 1–8 query heads in groups of 1–5.
HeadsSizes randomSizes(Random& random, Index headDim, Index most) {
  HeadsSizes sizes;
  sizes.kvHeads = 1 + pick(random, 3);
  sizes.heads = sizes.kvHeads * (1 + pick(random, 5 - sizes.kvHeads));
  sizes.headDim = headDim;
  sizes.queries = 1 + pick(random, most);
  sizes.keys = 1 + pick(random, most);
  return sizes;
}

TEST(FastPath, EveryHeadSizeEqualsTheTextbook) {
  for (Index headDim = 1; headDim <= 256; ++headDim) {
    Random random(mixSeed(static_cast<std::uint64_t>(headDim), 1));
    expectFastIsTextbook(randomHeads(randomSizes(random, headDim, 40), static_cast<std::uint64_t>(headDim)));
    if (HasFailure()) return;
  }
}

TEST(FastPath, RandomConfigurationsEqualTheTextbook) {
  int formulas = 0;
  for (std::uint64_t seed = 1000; seed < 2500; ++seed) {
    Random random(mixSeed(seed, 1));
    const HeadsSizes sizes = randomSizes(random, 1 + pick(random, 40), pick(random, 4) ? 30 : 130);
    const HeadsProblem p = randomHeads(sizes, seed);
    formulas += p.mask.formula != nullptr;
    expectFastIsTextbook(p);
    if (HasFailure()) return;
  }
  EXPECT_GT(formulas, 300);
}

TEST(FastPath, MatchesTextbookForEveryPattern) {
  Random random(3);
  int compared = 0;
  for (const PatternInfo& pattern : patternTable())
    for (const Index cacheLength : {0, 9}) {
      std::string text(pattern.example);
      if (pattern.kind == PatternKind::painted) text = "painted(\"a\")";
      if (pattern.kind == PatternKind::file) text = "file(\"c.npy\", visible)";
      HeadsProblem p = randomHeads({4, 2, 7, 31, 31 + cacheLength}, random.next());
      p.config.cacheLength = cacheLength;
      p.mask = {};
      p.text += ", only " + text;
      const MaskGeometry geometry = geometryOf(31, 31 + cacheLength, cacheLength, 4, 2);
      p.mask.formula = compiled(text, geometry, randomSources(random, geometry));
      expectFastIsTextbook(p);
      ++compared;
      if (HasFailure()) return;
    }
  EXPECT_EQ(compared, 2 * static_cast<int>(patternTable().size()));
}

TEST(FastPath, ManyBlocksAndChunksEqualTheTextbook) {
  // More keys than are processed at once when only the output is kept, and more rows than one task has.
  const HeadsSizes sizes[] = {{2, 1, 33, 113, 1100}, {2, 2, 64, 250, 1025}, {4, 2, 5, 97, 513},
                              {2, 1, 128, 49, 511},  {3, 1, 17, 700, 300},  {2, 1, 80, 1, 1099},
                              {2, 1, 256, 131, 612}, {6, 2, 31, 60, 1024},  {2, 1, 1, 1100, 95}};
  std::uint64_t seed = 2000;
  for (const HeadsSizes& each : sizes)
    for (int trial = 0; trial < 3; ++trial) {
      expectFastIsTextbook(randomHeads(each, seed++));
      if (HasFailure()) return;
    }
}

TEST(FastPath, ResultsPastTheCachesEqualTheTextbook) {
  // More than 6 Mi floats of weights and scores, in rows that are not aligned.
  HeadsProblem p = plainHeads({3, 1, 9, 1100, 1001}, 7);
  p.mask = maskFor("causal & window(700)", p.config, 1100, 1001);
  const AttentionResult expected = solveTextbook(p);
  const AttentionResult found = solveFast(p, Keep::scores);
  ASSERT_GT(found.weights.size() + found.scores.size(), Index{6} << 20);
  expectSameHeads(p, expected, found, "streamed");
}

TEST(FastPath, MatchesTextbookWithoutQueriesOrKeys) {
  for (const auto& [n, m] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}})
    for (const bool alibi : {false, true}) {
      HeadsProblem p = plainHeads({4, 2, 3, n, m}, 1);
      p.config.alibi = alibi;
      expectFastIsTextbook(p);
    }
}

TEST(FastPath, OnlyDeadRowsAreZero) {
  HeadsProblem p = plainHeads({2, 1, 16, 50, 600}, 11);
  Stack masked(1, 50, 600);
  for (Index row = 0; row < 50; row += 3) masked[0].row(row).setConstant(1);
  p.mask.formula =
      compileRules({.causal = false, .padding = false}, geometryOf(50, 600, 0, 2, 1), {cellsOf(masked)});
  for (const Keep keep : {Keep::output, Keep::weights}) {
    const AttentionResult found = solveFast(p, keep);
    for (Index head = 0; head < 2; ++head)
      for (Index row = 0; row < 50; ++row) {
        EXPECT_EQ(found.lse(head, row) == -kInfinity, row % 3 == 0);
        EXPECT_EQ(found.headOutput[head].row(row).isZero(0), row % 3 == 0);
      }
  }
}

TEST(FastPath, InfiniteScoresStayInTheirRow) {
  // Keys whose scores are −inf, +inf and NaN, in different chunks from those that most rows read first.
  for (const float value : {kInfinity, -kInfinity, kNaN})
    for (const Index key : {3, 599, 1023}) {
      HeadsProblem p = plainHeads({2, 1, 12, 60, 1024}, 12);
      p.config.cacheLength = 970;
      p.mask = maskFor("causal", p.config, 60, 1024);
      p.k[0](key, 5) = value;
      p.text = "key " + std::to_string(key) + " has " + std::to_string(value);
      expectFastIsTextbook(p);
    }
}

/// The rounding error of x·Wᵀ + b, computed twice.
Matrix linearLimits(const Linear& linear, const Matrix& x) {
  Matrix limits = x.cwiseAbs() * linear.weight.cwiseAbs().transpose();
  if (linear.bias.size()) limits.rowwise() += linear.bias.cwiseAbs().transpose();
  return limits * (static_cast<float>(x.cols() + 1) * kEpsilon);
}

/// The limits of a projection's heads. Each rotated pair has the errors of both of its parts, and four
/// roundings.
Stack projectionLimits(const Linear& linear, const Matrix& x, Index heads, bool turned) {
  Stack limits = splitHeads(linearLimits(linear, x), heads);
  if (!turned) return limits;
  const Stack values = splitHeads(applyTextbook(linear, x).cwiseAbs(), heads);
  const Index half = limits.cols() / 2;
  for (Index h = 0; h < heads; ++h) {
    const Matrix each = std::as_const(limits)[h] + 4 * kEpsilon * values[h];
    limits[h].leftCols(half) = each.leftCols(half) + each.rightCols(half);
    limits[h].rightCols(half) = limits[h].leftCols(half);
  }
  return limits;
}

/// Compares each step of attend with the textbook's step on the same input, so that errors don't accumulate.
void expectStepsAreTextbook(const Problem& p) {
  const AttentionConfig& c = p.config;
  const AttentionResult expected = attendTextbook(c, p.projections, p.x, p.context, p.mask);
  for (const Keep keep : {Keep::output, Keep::weights, Keep::scores}) {
    const AttentionResult found = attend(c, p.projections, p.x, p.context, p.mask, {}, keep);
    const auto expectProjected = [&](const Stack& a, const Stack& b, const Linear& linear, const Matrix& x,
                                     bool turns, const char* what) {
      const Stack limits = projectionLimits(linear, x, a.count(), turns && c.ropeTheta);
      ASSERT_EQ(a.size(), b.size());
      expectClose(a.data(), b.data(), limits.data(), a.count(), a.rows(), a.cols(), what);
    };
    expectProjected(expected.q, found.q, p.projections.q, p.x, true, "q");
    expectProjected(expected.k, found.k, p.projections.k, p.context, true, "k");
    expectProjected(expected.v, found.v, p.projections.v, p.context, false, "v");
    const HeadsProblem heads{c, p.mask, found.q, found.k, found.v, p.text};
    expectSameHeads(heads, solveTextbook(heads), found, "attend");
    const Matrix merged = mergeHeads(found.headOutput);
    const Matrix output = applyTextbook(p.projections.o, merged);
    const Matrix limits = linearLimits(p.projections.o, merged);
    expectClose(output.data(), found.output.data(), limits.data(), 1, output.rows(), output.cols(), "output");
  }
}

TEST(FastPath, AttendMatchesTextbookStepByStep) {
  for (std::uint64_t seed = 300; seed < 420; ++seed) {
    const Problem p = randomProblem(seed);
    SCOPED_TRACE(p.text);
    expectStepsAreTextbook(p);
    if (HasFailure()) return;
  }
}

TEST(FastPath, WideLayersEqualTheTextbookStepByStep) {
  // Head sizes that no panel divides, inputs deeper than one block of the sums, and more rows than one task.
  struct Sizes {
    Index modelDim, heads, kvHeads, headDim, queries, keys;
  };
  for (const Sizes& s : {Sizes{301, 6, 2, 51, 130, 130},
                         {517, 3, 3, 97, 5, 61},
                         {64, 4, 1, 16, 801, 3},
                         {130, 2, 1, 255, 1, 77},
                         {96, 8, 4, 64, 33, 33}})
    for (const bool bias : {false, true}) {
      Problem p;
      p.config.modelDim = s.modelDim;
      p.config.heads = s.heads;
      p.config.kvHeads = s.kvHeads;
      p.config.headDim = s.headDim;
      if (s.headDim % 2 == 0) p.config.ropeTheta = 10000;
      p.projections = xavierProjections(p.config, bias, 8);
      p.context = gaussianMatrix(s.keys, s.modelDim, 9);
      p.x = s.queries == s.keys ? p.context : gaussianMatrix(s.queries, s.modelDim, 10);
      p.text = "modelDim " + std::to_string(s.modelDim);
      SCOPED_TRACE(p.text);
      expectStepsAreTextbook(p);
    }
}

}  // namespace
}  // namespace headscope::attention::test
