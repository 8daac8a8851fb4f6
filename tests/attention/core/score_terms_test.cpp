#include "attention/core/score_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "attention/core/attention.h"
#include "attention/core/head_map.h"
#include "attention/core/tensor.h"
#include "tests/attention/core/heads_problem.h"
#include "tests/attention/masks/mask_support.h"

namespace headscope::attention::test {
namespace {

constexpr Index kTokens = 9;

/// How to switch on each term that isn't just a number in a plain problem, by name. Every new term needs an
/// entry here.
const std::map<std::string_view, std::function<void(HeadsProblem&)>> kSwitches{
    {"scale", [](HeadsProblem& p) { p.config.scale = 0.9f; }},
    {"ALiBi", [](HeadsProblem& p) { p.config.alibi = true; }},
    {"T5",
     [](HeadsProblem& p) {
       p.config.t5 = BucketBias{8, 20, true, 1, 5};
     }},
    {"additive", [](HeadsProblem& p) { p.mask.additive = gaussianStack(1, p.queries(), p.keys(), 7); }},
    {"mask", [](HeadsProblem& p) { p.mask = maskFor("window_both(3)", p.config, p.queries(), p.keys()); }},
};

void turnOn(const ScoreTerm& term, HeadsProblem& p) {
  if (term.number.member)
    p.config.*term.number.member = 0.7f;
  else
    kSwitches.at(term.name)(p);
}

HeadsProblem plain(Index queries) {
  HeadsProblem p = plainHeads({2, 1, 6, queries, kTokens}, 3);
  p.config.cacheLength = kTokens - queries;
  return p;
}

/// The score that a cell's steps lead to.
float explained(const HeadsProblem& p, Index head, Index row, Index j) {
  const float dot = p.q[head].row(row).dot(p.k[0].row(j));
  return scoreSteps(p.config, p.mask, head, row, j, dot).back().score;
}

/// Compares within the roundings of a sum of headDim products, the scale and later terms. A weight is at most
/// 1 and changes by no more than its score and the log-sum-exp together.
void expectNear(const HeadsProblem& p, Index head, Index row, Index j, float expected, float found) {
  if (std::isinf(expected)) {
    EXPECT_EQ(found, expected);
    return;
  }
  const float products = p.q[head].row(row).cwiseAbs().dot(p.k[0].row(j).cwiseAbs()) *
                         std::abs(p.config.effectiveScale() * p.config.sharpness);
  const float steps = static_cast<float>(2 * (p.config.headDim + 8));
  EXPECT_NEAR(found, expected,
              steps * std::numeric_limits<float>::epsilon() * (products + std::abs(expected) + 4));
}

/// Expects the scores [heads, queries, keys] of the fast path and of a decode step, and the weights of a map,
/// to equal those that the terms explain.
void expectKernelsAgree(const HeadsProblem& p) {
  const AttentionResult found = solveFast(p, Keep::scores);
  AttentionResult step;
  step.q = p.q;
  if (p.queries() == 1) {
    const CacheView cache{CacheType::f32, p.k.data(), p.v.data(), p.keys(), p.keys() * p.config.headDim};
    ASSERT_TRUE(decodeHeads(p.config, p.mask, cache, Keep::scores, step));
  }
  for (Index head = 0; head < 2; ++head) {
    HeadMap map(HeadField{p.config, head, p.q[head], p.k[0], p.mask});
    const Matrix weights = map.weights({0, 0, p.queries(), p.keys(), 1}, Pooling::max);
    for (Index row = 0; row < p.queries(); ++row)
      for (Index j = 0; j < p.keys(); ++j) {
        const float score = explained(p, head, row, j);
        expectNear(p, head, row, j, score, found.scores.at(head, row, j));
        if (p.queries() == 1) expectNear(p, head, row, j, score, step.scores.at(head, row, j));
        const float weight = std::isinf(score) ? score : std::exp(score - found.lse(head, row));
        expectNear(p, head, row, j, weight, weights(row, j));
      }
  }
}

TEST(ScoreTerms, EveryTermReachesTheKernelsAndIsExplained) {
  for (const Index queries : {Index{1}, kTokens})
    for (const ScoreTerm& term : scoreTerms()) {
      SCOPED_TRACE(term.name);
      const HeadsProblem without = plain(queries);
      HeadsProblem with = without;
      turnOn(term, with);
      EXPECT_TRUE(term.applies(with.config, with.mask));
      EXPECT_FALSE(term.label(with.config).empty());
      bool differs = false;
      for (Index j = 0; j < kTokens; ++j) {
        const auto steps = scoreSteps(with.config, with.mask, 1, queries - 1, j, 1);
        EXPECT_EQ(
            std::count_if(steps.begin(), steps.end(), [&](const ScoreStep& s) { return s.term == &term; }),
            1);
        differs = differs || explained(with, 1, queries - 1, j) != explained(without, 1, queries - 1, j);
      }
      EXPECT_TRUE(differs) << "a switch that changes nothing tests nothing";
      expectKernelsAgree(with);
    }
}

TEST(ScoreTerms, AllTermsTogetherReachTheKernels) {
  for (const Index queries : {Index{1}, kTokens}) {
    HeadsProblem p = plain(queries);
    kSwitches.at("mask")(p);
    for (const ScoreTerm& term : scoreTerms())
      if (term.name != "mask") turnOn(term, p);
    EXPECT_EQ(scoreSteps(p.config, p.mask, 0, 0, 0, 1).size(), scoreTerms().size());
    expectKernelsAgree(p);
  }
}

TEST(ScoreTerms, JoiningMultipliesFactorsAndReplacesOthers) {
  for (const ScoreTerm& term : scoreTerms()) {
    if (!term.number.member) {
      EXPECT_FALSE(term.isOption());
      EXPECT_EQ(term.kind == TermKind::factor, term.name == "scale") << "every other factor is a number";
      continue;
    }
    SCOPED_TRACE(term.name);
    ScoreNumbers change, numbers;
    EXPECT_FALSE(term.number.isSet(change));
    EXPECT_FALSE(term.applies(AttentionConfig{}, {}));
    numbers.*term.number.member = 1.5f;
    const ScoreNumbers before = numbers;
    joinNumbers(change, numbers);
    EXPECT_EQ(numbers, before) << "nothing was set";
    change.*term.number.member = 0.5f;
    joinNumbers(change, numbers);
    EXPECT_EQ(numbers.*term.number.member, term.kind == TermKind::factor ? 0.75f : 0.5f);
    numbers.*term.number.member = before.*term.number.member;
    EXPECT_EQ(numbers, before) << "and nothing else";

    AttentionConfig config = plain(1).config;
    EXPECT_EQ(scoreFactor(config), config.effectiveScale());
    config.*term.number.member = 0.5f;
    EXPECT_EQ(scoreFactor(config), config.effectiveScale() * (term.kind == TermKind::factor ? 0.5f : 1.0f));
    EXPECT_TRUE(validate(config).ok());
    config.*term.number.member = std::numeric_limits<float>::infinity();
    EXPECT_EQ(validate(config).error().message, term.number.check(INFINITY).error().message);
  }
}

/// The kernels have one fixed order of terms, with one soft-cap and one matrix.
TEST(ScoreTerms, FollowTheKernelsOrder) {
  std::map<TermKind, int> kinds;
  const ScoreTerm* before = nullptr;
  for (const ScoreTerm& term : scoreTerms()) {
    EXPECT_TRUE(!before || before->kind <= term.kind) << term.name;
    before = &term;
    ++kinds[term.kind];
  }
  EXPECT_LE(kinds[TermKind::cap], 1);
  EXPECT_LE(kinds[TermKind::cell], 1);
  EXPECT_EQ(before->kind, TermKind::visibility);
  EXPECT_TRUE(before->applies({}, {})) << "every explanation ends with the mask";
}

TEST(ScoreTerms, LabelsReadNaturally) {
  AttentionConfig config;
  config.headDim = 32;
  config.softcap = 30.0f;
  config.sharpness = 10;
  const auto labels = [&] {
    std::string text;
    for (const ScoreTerm& term : scoreTerms()) text += (text.empty() ? "" : ", ") + term.label(config);
    return text;
  };
  EXPECT_EQ(labels(), "÷ √32, × 10 sharpness, + ALiBi, + T5, soft-cap 30, + additive, mask");
  config.scale = 1 / std::sqrt(32.0f);
  config.softcap = 0.25f;
  config.sharpness = 0.1f;
  EXPECT_EQ(labels(), "÷ √32, × 0.1 sharpness, + ALiBi, + T5, soft-cap 0.25, + additive, mask");
  config.scale = 1;
  EXPECT_EQ(labels().substr(0, 10), "not scaled");
  config.scale = -0.5f;
  EXPECT_EQ(scoreTerms()[0].label(config), "× -0.5");
}

constexpr float kUnbounded = std::numeric_limits<float>::infinity();
const float kNoNumber = std::nanf("");
/// Around every possible number of lanes, and with remainders.
constexpr std::size_t kRowLengths[] = {0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 50};

TEST(ScoreRows, SeenKeysEndAtLastScoreAboveMinusInfinity) {
  for (const std::size_t count : kRowLengths)
    for (std::size_t end = 0; end <= count; ++end) {
      std::vector<float> scores(count, kMinusInfinity);
      for (std::size_t i = 0; i < end; i += 2) scores[i] = -1;
      if (end > 0) scores[end - 1] = kUnbounded;
      if (end < count) scores[end] = kNoNumber;  // NaN isn't a score that makes a key visible
      const SeenKeys seen = seenKeys(scores.data(), count);
      EXPECT_EQ(seen.end, end) << count;
      EXPECT_EQ(seen.count, end == 0 ? 0 : (end + 1) / 2 + (end % 2 == 0)) << count << " " << end;
    }
}

TEST(ScoreRows, LargestScoreKeepsNaN) {
  EXPECT_EQ(largestOf(nullptr, 0), kMinusInfinity);
  for (const std::size_t count : kRowLengths)
    for (std::size_t at = 0; at < count; ++at) {
      std::vector<float> values(count, -2.0f);
      values[at] = 0.5f;
      EXPECT_EQ(largestOf(values.data(), count), 0.5f) << count << " " << at;
      values[at] = kUnbounded;
      EXPECT_EQ(largestOf(values.data(), count), kUnbounded) << count << " " << at;
      values[at] = kNoNumber;
      EXPECT_TRUE(std::isnan(largestOf(values.data(), count))) << count << " " << at;
    }
}

TEST(ScoreRows, MarksMaskedCellsAndFindsFiniteExtremes) {
  for (const std::size_t count : kRowLengths)
    for (std::size_t at = 0; at + 4 <= count; ++at) {
      std::vector<float> scores(count, 1.0f), values(count, 0.25f), marked(count);
      scores[at] = kMinusInfinity, scores[at + 1] = kNoNumber, scores[at + 2] = kUnbounded,
      scores[at + 3] = -7;
      values[at + 1] = kNoNumber, values[at + 2] = -kUnbounded, values[at + 3] = -0.5f;
      RowExtremes extremes{kUnbounded, kMinusInfinity, 0};
      markRow(scores.data(), values.data(), count, marked.data(), extremes);
      EXPECT_EQ(extremes.low, -7);
      EXPECT_EQ(extremes.high, count > 4 ? 1 : -7);
      EXPECT_EQ(extremes.most, 0.5f);
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_TRUE(i == at       ? marked[i] == kMinusInfinity
                    : i == at + 1 ? std::isnan(marked[i])
                                  : marked[i] == values[i])
            << count << " " << i;
    }
}

}  // namespace
}  // namespace headscope::attention::test
