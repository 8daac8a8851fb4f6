#include "tests/attention/core/heads_problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/core/score_terms.h"
#include "attention/masks/plain_rules.h"
#include "tests/attention/core/textbook.h"
#include "tests/attention/masks/random_mask.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

bool chance(Random& random, double probability) {
  return random.uniform() < probability;
}

/// Cells are masked in about `density` of all places, some rows completely.
template <typename Value>
Stack randomMaskStack(Random& random, Index count, const HeadsSizes& sizes, const Value& value) {
  Stack stack(count, sizes.queries, sizes.keys);
  const double density = random.uniform();
  for (Index i = 0; i < stack.count(); ++i)
    for (Index row = 0; row < stack.rows(); ++row) {
      const double masked = chance(random, 0.1) ? 2 : density;
      for (Index j = 0; j < stack.cols(); ++j) stack[i](row, j) = value(random.uniform() < masked);
    }
  return stack;
}

MaskInput randomMask(Random& random, const AttentionConfig& config, const HeadsSizes& sizes,
                     std::string& text) {
  MaskInput mask;
  const auto stacks = [&] { return chance(random, 0.5) ? 1 : config.heads; };
  MaskGeometry geometry =
      geometryOf(sizes.queries, sizes.keys, config.cacheLength, config.heads, config.kvHeads);
  geometry.keyLength = pick(random, sizes.keys + 1);
  PlainRules rules{chance(random, 0.4), chance(random, 0.25), 0, 0};
  if (chance(random, 0.3)) rules.window = 1 + pick(random, sizes.keys + 2);
  if (chance(random, 0.3)) rules.sinks = pick(random, 5);
  Stack masked;
  if (chance(random, 0.25))
    masked = randomMaskStack(random, stacks(), sizes, [](bool hidden) { return hidden ? 1.0f : 0.0f; });
  if (chance(random, 0.25))
    mask.additive = randomMaskStack(random, stacks(), sizes,
                                    [&](bool masked) { return masked ? -kInfinity : random.gaussian(); });
  mask.formula = compileRules(rules, geometry, {cellsOf(masked)});
  text += ", " + maskText(attention::layersOf(rules)) + (masked.empty() ? "" : ", boolean mask");
  // Random paintings take two heads.
  if (config.heads > 1 && chance(random, 0.5)) {
    geometry.cross = chance(random, 0.2);
    MaskLayers layers = attention::layersOf(rules);
    layers.emplace_back().group = randomLayers(random);
    // Not every mask fits every size.
    if (auto formula = compileMask(layers, geometry, randomSources(random, geometry))) {
      mask.formula = *formula;
      text += ", instead " + maskText(layers);
    }
  }
  return mask;
}

/// Sets single elements of some rows to NaN or infinity, so that infinities meet finite numbers as well as
/// each other.
void poison(Random& random, Stack& stack) {
  for (Index count = 1 + pick(random, 3); count > 0 && !stack.empty(); --count) {
    const float values[] = {kNaN, kInfinity, -kInfinity};
    stack.data()[pick(random, stack.size())] = values[pick(random, 3)];
  }
}

AttentionConfig randomConfig(Random& random, const HeadsSizes& sizes) {
  AttentionConfig c = plainConfig(sizes.heads, sizes.kvHeads, sizes.headDim);
  if (chance(random, 0.3)) c.cacheLength = pick(random, sizes.keys + 1);
  if (chance(random, 0.3))
    c.scale = static_cast<float>((random.uniform() - 0.2) / std::sqrt(static_cast<double>(sizes.headDim)));
  if (chance(random, 0.25)) c.sharpness = static_cast<float>(0.3 + 2 * random.uniform());
  c.alibi = chance(random, 0.25);
  if (chance(random, 0.25)) c.t5 = BucketBias{8, 16 + pick(random, 100), chance(random, 0.5), 1.5f, 3};
  if (chance(random, 0.25)) c.softcap = static_cast<float>(0.5 + 5 * random.uniform());
  if (chance(random, 0.25))
    for (Index head = 0; head < c.heads; ++head) c.sinks.push_back(3 * random.gaussian());
  return c;
}

}  // namespace

AttentionConfig plainConfig(Index heads, Index kvHeads, Index headDim) {
  AttentionConfig c;
  c.modelDim = 1;
  c.heads = heads;
  c.kvHeads = kvHeads;
  c.headDim = headDim;
  return c;
}

Stack gaussianStack(Index count, Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Stack stack(count, rows, cols);
  for (Index i = 0; i < stack.size(); ++i) stack.data()[i] = random.gaussian();
  return stack;
}

HeadsProblem plainHeads(const HeadsSizes& sizes, std::uint64_t seed) {
  HeadsProblem p;
  p.config = plainConfig(sizes.heads, sizes.kvHeads, sizes.headDim);
  p.q = gaussianStack(sizes.heads, sizes.queries, sizes.headDim, mixSeed(seed, 1));
  p.k = gaussianStack(sizes.kvHeads, sizes.keys, sizes.headDim, mixSeed(seed, 2));
  p.v = gaussianStack(sizes.kvHeads, sizes.keys, sizes.headDim, mixSeed(seed, 3));
  p.text = "seed " + std::to_string(seed) + ": heads " + std::to_string(sizes.heads) + "/" +
           std::to_string(sizes.kvHeads) + " of " + std::to_string(sizes.headDim) + ", queries " +
           std::to_string(sizes.queries) + ", keys " + std::to_string(sizes.keys);
  return p;
}

HeadsProblem randomHeads(const HeadsSizes& sizes, std::uint64_t seed) {
  Random random(mixSeed(seed, 5));
  HeadsProblem p = plainHeads(sizes, seed);
  p.config = randomConfig(random, sizes);
  const AttentionConfig& c = p.config;
  p.text += " after " + std::to_string(c.cacheLength);
  p.mask = randomMask(random, c, sizes, p.text);
  const auto say = [&](bool is, const char* word) { p.text += is ? std::string(", ") + word : ""; };
  say(c.sharpness != 1, "sharpness");
  say(c.alibi, "ALiBi");
  say(c.t5.has_value(), "T5");
  say(c.softcap != 0, "soft-cap");
  say(!c.sinks.empty(), "sinks");
  say(!p.mask.additive.empty(), "additive mask");
  if (chance(random, 0.25)) {
    const bool keys = chance(random, 0.6);
    if (keys) poison(random, p.k);
    if (!keys || chance(random, 0.5)) poison(random, p.v);
    if (chance(random, 0.2)) poison(random, p.q);
    say(keys, "NaN or infinity in keys");
    say(!p.v[0].allFinite(), "NaN or infinity in values");
    say(!p.q[0].allFinite(), "NaN or infinity in queries");
  }
  return p;
}

std::vector<MatrixView> viewsOf(const Stack& stack) {
  std::vector<MatrixView> views;
  for (Index i = 0; i < stack.count(); ++i) views.push_back(stack[i]);
  return views;
}

AttentionResult solveTextbook(const HeadsProblem& p) {
  AttentionResult result;
  result.q = p.q;
  attendHeadsTextbook(p.config, p.mask, viewsOf(p.k), viewsOf(p.v), result);
  return result;
}

AttentionResult solveFast(const HeadsProblem& p, Keep keep, std::stop_token stop) {
  AttentionResult result;
  result.q = p.q;
  attendHeads(p.config, p.mask, viewsOf(p.k), viewsOf(p.v), result, std::move(stop), keep);
  return result;
}

namespace {

/// Limits for both sums of headDim products, the scale, biases, soft-cap (the tangent is right to a few units
/// in the last place, and its slope is at most 1) and additive numbers.
void limitScores(const HeadsProblem& p, Index head, const MatrixView& scores, MutableMatrixView limits) {
  const AttentionConfig& c = p.config;
  const MatrixView q = p.q[head], k = p.k[c.kvHeadOf(head)];
  const Matrix magnitudes =
      q.cwiseAbs() * k.cwiseAbs().transpose() * std::abs(c.effectiveScale() * c.sharpness);
  const HeadTerms terms = headTerms(c, p.mask, head, q.rows(), k.rows());
  const Stack& additive = p.mask.additive;
  for (Index row = 0; row < scores.rows(); ++row)
    for (Index j = 0; j < scores.cols(); ++j) {
      float& limit = limits(row, j);
      // A soft-cap makes an infinite product finite, the same number on both sides.
      const float magnitude = c.softcap && std::isinf(magnitudes(row, j)) ? 0 : magnitudes(row, j);
      limit = static_cast<float>(c.headDim + 4) * magnitude;
      if (const float* bias = terms.biasOf(row)) limit += magnitude + std::abs(bias[j]);
      if (c.softcap) limit += 16 * c.softcap;
      const float added = additive.empty() ? 0 : additive.at(additive.count() == 1 ? 0 : head, row, j);
      if (std::isfinite(added)) limit += std::abs(added) + std::abs(scores(row, j));
      limit *= kEpsilon;
    }
}

/// Softmax multiplies each weight by e^δ for its score's error, by the largest such factor in the sum, and by
/// the roundings of a sum of m terms. Numbers below the smallest normal one are flushed to zero.
void limitWeights(const AttentionResult& expected, Index head, Index row, HeadsLimits& limits) {
  const auto scores = expected.scores[head].row(row), errors = std::as_const(limits.scores)[head].row(row);
  const float max = scores.cols() ? scores.maxCoeff() : -kInfinity;
  const float lse = expected.lse(head, row);
  if (!std::isfinite(max) || !std::isfinite(lse)) return;
  float delta = 0;
  for (Index j = 0; j < scores.cols(); ++j)
    if (std::isfinite(scores(j)))
      delta = std::max(delta, errors(j) + kEpsilon * std::min(max - scores(j), 88.0f));
  const float summing = (static_cast<float>(scores.cols()) + 16) * kEpsilon;
  limits.lse(head, row) = delta + summing + 2 * kEpsilon * (std::abs(lse) + std::abs(max));
  const float relative = std::expm1(2 * delta + summing + limits.lse(head, row));
  limits.weights[head].row(row) = (std::as_const(expected.weights)[head].row(row) * relative).array() +
                                  2 * std::numeric_limits<float>::min();
}

}  // namespace

HeadsLimits limitsOf(const HeadsProblem& p, const AttentionResult& expected) {
  const Index heads = p.config.heads, n = p.queries(), m = p.keys();
  HeadsLimits limits{Stack(heads, n, m), Stack(heads, n, m), Matrix::Zero(heads, n),
                     Stack(heads, n, p.config.headDim)};
  for (Index head = 0; head < heads; ++head) {
    limitScores(p, head, expected.scores[head], limits.scores[head]);
    for (Index row = 0; row < n; ++row) limitWeights(expected, head, row, limits);
    const MatrixView v = p.v[p.config.kvHeadOf(head)];
    const Matrix magnitudes = v.unaryExpr([](float x) { return std::isfinite(x) ? std::abs(x) : 0.0f; });
    const Matrix slack = std::as_const(limits.weights)[head] +
                         std::as_const(expected.weights)[head] * ((static_cast<float>(m) + 4) * kEpsilon);
    limits.headOutput[head] = slack * magnitudes;
  }
  return limits;
}

void expectClose(const float* expected, const float* found, const float* limits, Index count, Index rows,
                 Index cols, const std::string& what) {
  int shown = 0;
  for (Index i = 0; i < count * rows * cols && shown < 5; ++i) {
    const float a = expected[i], b = found[i];
    const bool same = std::isnan(a)   ? std::isnan(b)
                      : std::isinf(a) ? a == b
                                      : std::abs(a - b) <= limits[i] + kEpsilon * std::abs(a);
    if (same) continue;
    ADD_FAILURE() << what << " [" << i / (rows * cols) << ", " << i / cols % rows << ", " << i % cols
                  << "] is " << b << ", expected " << a << " ± " << limits[i];
    ++shown;
  }
}

void expectSameHeads(const HeadsProblem& p, const HeadsLimits& limits, const AttentionResult& expected,
                     const AttentionResult& found, const std::string& what) {
  SCOPED_TRACE(p.text + ", " + what);
  const Index heads = p.config.heads, n = p.queries(), m = p.keys();
  const float* const scores = expected.scores.data();
  if (!found.scores.empty())
    expectClose(scores, found.scores.data(), limits.scores.data(), heads, n, m, "scores");
  if (!found.weights.empty()) {
    expectClose(expected.weights.data(), found.weights.data(), limits.weights.data(), heads, n, m, "weights");
    for (Index i = 0; i < expected.scores.size(); ++i)
      if (scores[i] == -kInfinity && found.weights.data()[i] != 0) {
        ADD_FAILURE() << "weights [" << i / (n * m) << ", " << i / m % n << ", " << i % m
                      << "] is masked and has " << found.weights.data()[i];
        break;
      }
  }
  ASSERT_EQ(found.lse.rows(), heads);
  ASSERT_EQ(found.lse.cols(), n);
  expectClose(expected.lse.data(), found.lse.data(), limits.lse.data(), 1, heads, n, "lse");
  ASSERT_EQ(found.headOutput.size(), expected.headOutput.size());
  expectClose(expected.headOutput.data(), found.headOutput.data(), limits.headOutput.data(), heads, n,
              p.config.headDim, "headOutput");
}

void expectSameHeads(const HeadsProblem& p, const AttentionResult& expected, const AttentionResult& found,
                     const std::string& what) {
  expectSameHeads(p, limitsOf(p, expected), expected, found, what);
}

}  // namespace headscope::attention::test
