#include "tests/attention/core/attention_reference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attention/core/positions.h"
#include "attention/core/random.h"
#include "attention/masks/plain_rules.h"
#include "tests/attention/masks/mask_support.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {

// Press et al. 2022: the slopes of the largest power of two up to the number of heads, then every other slope
// of the next power.
double alibiSlope(Index heads, Index head) {
  Index power = 1;
  while (power * 2 <= heads) power *= 2;
  const double base = head < power
                          ? static_cast<double>(head + 1) / static_cast<double>(power)
                          : static_cast<double>(2 * (head - power) + 1) / static_cast<double>(2 * power);
  return std::pow(2.0, -8.0 * base);
}

// Raffel et al. 2020: buckets are exact for near keys and logarithmic for far ones; if keys on both sides are
// visible, each side gets half of the buckets.
double t5Bias(const BucketBias& bias, Index heads, Index head, Index back) {
  Index count = bias.buckets, bucket = 0;
  if (bias.bidirectional) {
    count /= 2;
    if (back < 0) bucket += count;
  } else if (back < 0) {
    back = 0;
  }
  const double distance = std::abs(static_cast<double>(back)), exact = static_cast<double>(count / 2);
  double within = distance;
  if (distance >= exact)
    within = std::min(exact + std::floor(std::log(distance / exact) /
                                         std::log(static_cast<double>(bias.maxDistance) / exact) *
                                         (static_cast<double>(count) - exact)),
                      static_cast<double>(count - 1));
  return t5Values(bias, heads)(head, bucket + static_cast<Index>(within));
}

bool sees(const Problem& p, Index head, Index row, Index j) {
  const AttentionConfig& c = p.config;
  const Index i = c.cacheLength + row;
  const Sight& s = p.sight;
  bool sight = !s.keyLength || j < *s.keyLength;
  if (s.causal) sight = sight && i - j >= 0;
  if (s.window > 0) sight = sight && (j < s.sinks || (i - j < s.window && j - i < s.window));
  const auto dense = [&](const Stack& stack) { return stack.at(head % stack.count(), row, j); };
  if (!s.masked.empty()) sight = sight && dense(s.masked) == 0;
  if (!p.mask.additive.empty()) sight = sight && !std::isinf(dense(p.mask.additive));
  return sight;
}

namespace {

Bounded exact(float value) {
  return {value, 0};
}

/// Σ a·b over `count` terms in any order: the errors of the factors, and one epsilon of all magnitudes per
/// addition and product (Higham 2002, section 3.1).
Bounded sumOfProducts(Index count, const std::function<Bounded(Index)>& a,
                      const std::function<Bounded(Index)>& b) {
  double value = 0, inherited = 0, magnitude = 0;
  for (Index t = 0; t < count; ++t) {
    const Bounded left = a(t), right = b(t);
    value += left.value * right.value;
    inherited +=
        std::abs(left.value) * right.error + std::abs(right.value) * left.error + left.error * right.error;
    magnitude += (std::abs(left.value) + left.error) * (std::abs(right.value) + right.error);
  }
  return {value, inherited + static_cast<double>(count + 1) * kFloatEpsilon * magnitude};
}

Bounded add(Bounded a, double b) {
  const double value = a.value + b;
  return {value, a.error + kFloatEpsilon * (std::abs(a.value) + std::abs(b))};
}

/// Element `out` of x·Wᵀ + b for one row of x.
Bounded linear(const Linear& map, Index out, const std::function<Bounded(Index)>& row) {
  const Bounded y = sumOfProducts(map.weight.cols(), row, [&](Index t) { return exact(map.weight(out, t)); });
  return map.bias.size() == 0 ? y : add(y, map.bias(out));
}

/// The projected vector of one head. With RoPE, each pair is rotated as a complex number.
std::vector<Bounded> headVector(const AttentionConfig& config, const Linear& map, const Matrix& source,
                                Index row, Index head, Index position, bool rotate) {
  std::vector<Bounded> vector;
  for (Index t = 0; t < config.headDim; ++t)
    vector.push_back(linear(map, head * config.headDim + t, [&](Index d) { return exact(source(row, d)); }));
  if (!rotate || !config.ropeTheta) return vector;
  const auto half = static_cast<std::size_t>(config.headDim / 2);
  for (std::size_t t = 0; t < half; ++t) {
    const double angle = static_cast<double>(position) /
                         std::pow(*config.ropeTheta, static_cast<double>(t) / static_cast<double>(half));
    const Bounded a = vector[t], b = vector[t + half];
    // Cosine, sine, two products and a sum are rounded.
    const double error = a.error + b.error + 4 * kFloatEpsilon * (std::abs(a.value) + std::abs(b.value));
    vector[t] = {a.value * std::cos(angle) - b.value * std::sin(angle), error};
    vector[t + half] = {a.value * std::sin(angle) + b.value * std::cos(angle), error};
  }
  return vector;
}

Bounded score(const Problem& p, Index head, Index row, Index j, const std::vector<Bounded>& q,
              const std::vector<Bounded>& k) {
  const AttentionConfig& c = p.config;
  if (!sees(p, head, row, j)) return {-kDoubleInfinity, 0};
  const auto at = [](const std::vector<Bounded>& v) {
    return [&v](Index t) { return v[static_cast<std::size_t>(t)]; };
  };
  Bounded s = sumOfProducts(c.headDim, at(q), at(k));
  const double scale =
      (c.scale ? *c.scale : 1 / std::sqrt(static_cast<double>(c.headDim))) * static_cast<double>(c.sharpness);
  s = {s.value * scale, std::abs(scale) * (s.error + 3 * kFloatEpsilon * std::abs(s.value))};
  if (c.alibi) {
    const double bias = alibiSlope(c.heads, head) * std::abs(static_cast<double>(c.cacheLength + row - j));
    s = add(s, -bias);
    s.error += 2 * kFloatEpsilon * bias;
  }
  if (c.t5) s = add(s, t5Bias(*c.t5, c.heads, head, c.cacheLength + row - j));
  if (c.softcap) {
    // The slope of c·tanh(s/c) is at most 1. The quotient, the tangent (wrong by a few units in the last
    // place if vectorised) and the product are rounded.
    const double cap = c.softcap, capped = cap * std::tanh(s.value / cap);
    s = {capped, s.error + 8 * kFloatEpsilon * std::abs(capped)};
  }
  if (!p.mask.additive.empty()) s = add(s, p.mask.additive.at(head % p.mask.additive.count(), row, j));
  return s;
}

/// The softmax of one row, and the effect of errors in its scores: factors of e^{±δ} in the numerator and
/// denominator.
void softmax(const std::vector<Bounded>& scores, std::vector<Bounded>& weights, Bounded& lse) {
  double max = -kDoubleInfinity, delta = 0, sum = 0;
  for (const Bounded& s : scores) max = std::max(max, s.value);
  weights.assign(scores.size(), {0, 0});
  lse = {-kDoubleInfinity, 0};
  if (std::isinf(max)) return;
  for (const Bounded& s : scores) {
    sum += std::exp(s.value - max);
    if (std::isinf(s.value)) continue;
    // score − max is rounded too, in proportion to their distance, as far as the weight matters.
    delta = std::max(delta, s.error + kFloatEpsilon * std::min(max - s.value, 88.0));
  }
  const double summing = (static_cast<double>(scores.size()) + 8) * kFloatEpsilon;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double weight = std::exp(scores[j].value - max) / sum;
    // Weights below the smallest normal number are flushed to zero.
    const double flushed = std::isinf(scores[j].value) ? 0 : std::numeric_limits<float>::min();
    weights[j] = {weight, weight * (std::expm1(2 * delta) + summing) + flushed};
  }
  lse = {max + std::log(sum), delta + summing + 2 * kFloatEpsilon * (std::abs(max) + std::log(sum))};
}

}  // namespace

Matrix gaussianMatrix(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed);
  Matrix matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.gaussian();
  return matrix;
}

void Problem::compileSight() {
  MaskGeometry geometry =
      geometryOf(x.rows(), context.rows(), config.cacheLength, config.heads, config.kvHeads);
  geometry.keyLength = sight.keyLength.value_or(geometry.keys);
  const PlainRules rules{sight.causal, sight.keyLength.has_value(), sight.window, sight.sinks};
  mask.formula = compileRules(rules, geometry, {cellsOf(sight.masked)});
}

Reference referenceAttention(const Problem& p) {
  const AttentionConfig& c = p.config;
  const Index n = p.x.rows(), m = p.context.rows();
  Reference reference;
  std::vector<std::vector<Bounded>> joined(static_cast<std::size_t>(n));
  for (Index head = 0; head < c.heads; ++head) {
    const Index kvHead = head * c.kvHeads / c.heads;
    std::vector<std::vector<Bounded>> k, v;
    for (Index j = 0; j < m; ++j) {
      k.push_back(headVector(c, p.projections.k, p.context, j, kvHead, j, true));
      v.push_back(headVector(c, p.projections.v, p.context, j, kvHead, j, false));
    }
    for (Index row = 0; row < n; ++row) {
      const auto q = headVector(c, p.projections.q, p.x, row, head, c.cacheLength + row, true);
      std::vector<Bounded> scores, weights;
      Bounded lse;
      for (Index j = 0; j < m; ++j)
        scores.push_back(score(p, head, row, j, q, k[static_cast<std::size_t>(j)]));
      softmax(scores, weights, lse);
      for (std::size_t t = 0; t < static_cast<std::size_t>(c.headDim); ++t) {
        const Bounded sum = sumOfProducts(
            m, [&](Index j) { return weights[static_cast<std::size_t>(j)]; },
            [&](Index j) { return v[static_cast<std::size_t>(j)][t]; });
        reference.headOutput.push_back(sum);
        joined[static_cast<std::size_t>(row)].push_back(sum);
      }
      reference.scores.insert(reference.scores.end(), scores.begin(), scores.end());
      reference.weights.insert(reference.weights.end(), weights.begin(), weights.end());
      reference.lse.push_back(lse);
    }
  }
  for (const auto& row : joined)
    for (Index d = 0; d < c.modelDim; ++d)
      reference.output.push_back(
          linear(p.projections.o, d, [&](Index t) { return row[static_cast<std::size_t>(t)]; }));
  return reference;
}

Problem randomProblem(std::uint64_t seed) {
  Random random(mixSeed(seed, 77));
  const auto below = [&](Index count) {
    return static_cast<Index>(random.next() % static_cast<std::uint64_t>(count));
  };
  const auto chance = [&](double p) { return random.uniform() < p; };
  Problem p;
  AttentionConfig& c = p.config;
  c.kvHeads = 1 + below(3);
  c.heads = c.kvHeads * (1 + below(3));
  c.headDim = 1 + below(chance(0.5) ? 64 : 9);
  c.modelDim = 1 + below(40);
  const bool cross = chance(0.3);
  const Index n = 1 + below(20);
  c.cacheLength = chance(0.3) ? below(8) : 0;
  const Index m = cross ? 1 + below(24) : c.cacheLength + n;
  Sight& s = p.sight;
  s.causal = chance(0.5);
  if (chance(0.4)) s.window = 1 + below(8);
  if (chance(0.4)) s.sinks = below(5);
  if (chance(0.3)) c.sharpness = static_cast<float>(0.3 + 2 * random.uniform());
  if (chance(0.2)) c.t5 = BucketBias{8, 10, chance(0.5), 1.5f, seed};
  if (chance(0.3)) c.scale = static_cast<float>(0.1 + random.uniform());
  if (c.headDim % 2 == 0 && chance(0.5)) c.ropeTheta = chance(0.5) ? 10000.0 : 500000.0;
  c.alibi = chance(0.3);
  if (chance(0.3)) c.softcap = static_cast<float>(0.5 + 10 * random.uniform());
  p.projections = xavierProjections(c, chance(0.5), mixSeed(seed, 1));
  p.context = gaussianMatrix(m, c.modelDim, mixSeed(seed, 2));
  p.x = cross ? gaussianMatrix(n, c.modelDim, mixSeed(seed, 3)) : Matrix(p.context.bottomRows(n));
  if (chance(0.3)) s.keyLength = below(m + 1);
  if (chance(0.3)) {
    s.masked = Stack(chance(0.5) ? 1 : c.heads, n, m);
    for (Index i = 0; i < s.masked.size(); ++i) s.masked.data()[i] = chance(0.3) ? 1.0f : 0.0f;
  }
  if (chance(0.3)) {
    p.mask.additive = Stack(chance(0.5) ? 1 : c.heads, n, m);
    for (Index i = 0; i < p.mask.additive.size(); ++i)
      p.mask.additive.data()[i] = chance(0.2) ? -std::numeric_limits<float>::infinity() : random.gaussian();
  }
  p.compileSight();
  p.text = "seed " + std::to_string(seed) + ": modelDim " + std::to_string(c.modelDim) + ", heads " +
           std::to_string(c.heads) + "/" + std::to_string(c.kvHeads) + " of " + std::to_string(c.headDim) +
           ", queries " + std::to_string(n) + ", keys " + std::to_string(m);
  return p;
}

void expectWithin(const std::vector<Bounded>& expected, const float* found, Index rows, Index cols,
                  const std::string& what) {
  int shown = 0;
  for (std::size_t i = 0; i < expected.size() && shown < 5; ++i) {
    const double value = found[i];
    // The float nearest to the exact value may itself be half an epsilon away.
    const double limit = expected[i].error + kFloatEpsilon * std::abs(expected[i].value);
    const bool same = std::isinf(expected[i].value) ? value == expected[i].value
                                                    : std::abs(value - expected[i].value) <= limit;
    if (same) continue;
    const auto index = static_cast<Index>(i);
    ADD_FAILURE() << what << " [" << index / (rows * cols) << ", " << index / cols % rows << ", "
                  << index % cols << "] is " << value << ", expected " << expected[i].value << " ± " << limit;
    ++shown;
  }
}

AttentionConfig smallConfig() {
  AttentionConfig config;
  config.modelDim = 20;
  config.heads = 4;
  config.kvHeads = 2;
  config.headDim = 6;
  return config;
}

AttentionResult solve(const Problem& problem) {
  return attend(problem.config, problem.projections, problem.x, problem.context, problem.mask);
}

}  // namespace headscope::attention::test
