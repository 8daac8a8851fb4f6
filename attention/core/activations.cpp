#include "attention/core/activations.h"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace headscope::attention {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
/// ln of the smallest normal float.
constexpr float kLowest = -87.3365f;

/// With x = n·ln 2 + r and |r| ≤ ln 2 / 2, exp(x) = 2ⁿ·exp(r). Evaluates exp(r) by its Taylor series to r⁷;
/// the remainder, r⁸/8!, is below 6e-9.
inline float exponential(float x) {
  // Adding 1.5·2²³ leaves no fraction bits: the sum's lowest bits are n, rounded.
  constexpr float kRound = 12582912.0f;
  // ln 2 in two parts; the first has 9 significant bits, so that n times it is exact.
  constexpr float kLn2High = 0.693359375f;
  constexpr float kLn2Low = -2.12194440e-4f;
  const float clamped = x < kLowest ? kLowest : x;
  const float shifted = clamped * std::numbers::log2e_v<float> + kRound;
  const float n = shifted - kRound;
  const float r = (clamped - n * kLn2High) - n * kLn2Low;
  float series = 1.0f / 5040;
  series = series * r + 1.0f / 720;
  series = series * r + 1.0f / 120;
  series = series * r + 1.0f / 24;
  series = series * r + 1.0f / 6;
  series = series * r + 0.5f;
  series = series * r + 1.0f;
  series = series * r + 1.0f;
  // 127 in the exponent field is 2⁰; the upper bits of kRound are shifted out.
  const std::uint32_t exponent = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
  const float value = series * std::bit_cast<float>(exponent);
  return x < kLowest ? 0.0f : value;
}

constexpr Index kLanes = 8;
using Lanes = std::array<float, kLanes>;

/// Returns the largest score, ignoring NaN; −inf if there is none.
float largest(const float* scores, Index count) {
  Lanes lanes;
  lanes.fill(-kInfinity);
  Index j = 0;
  for (; j + kLanes <= count; j += kLanes)
    for (Index l = 0; l < kLanes; ++l) lanes[l] = scores[j + l] > lanes[l] ? scores[j + l] : lanes[l];
  for (; j < count; ++j) lanes[0] = scores[j] > lanes[0] ? scores[j] : lanes[0];
  return *std::max_element(lanes.begin(), lanes.end());
}

/// Sums in lanes of fixed order: fast, more accurate than one running sum, and with the same bits wherever
/// the row lies in memory.
float laneSum(const float* values, Index count) {
  Lanes lanes{};
  Index j = 0;
  for (; j + kLanes <= count; j += kLanes)
    for (Index l = 0; l < kLanes; ++l) lanes[l] += values[j + l];
  for (Index l = 0; j < count; ++j, ++l) lanes[l] += values[j];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

}  // namespace

float expNonPositive(float x) {
  return exponential(x);
}

float shareLeftBySink(float sink, float lse) {
  return 1 / (1 + std::exp(sink - lse));
}

float lseWithSink(float sink, float lse) {
  if (lse == -kInfinity) return lse;
  const float more = std::max(lse, sink), less = std::min(lse, sink);
  return std::isnan(lse) ? lse : more + std::log1p(std::exp(less - more));
}

SoftmaxRow softmaxRow(const float* scores, Index count, float* weights, std::optional<float> sink) {
  float max = largest(scores, count);
  if (max == -kInfinity && std::none_of(scores, scores + count, [](float s) { return std::isnan(s); })) {
    std::fill(weights, weights + count, 0.0f);
    return {-kInfinity, 0, -kInfinity};
  }
  if (sink) max = std::max(max, *sink);
  for (Index j = 0; j < count; ++j) weights[j] = exponential(scores[j] - max);
  const float sum = laneSum(weights, count) + (sink ? exponential(*sink - max) : 0);
  if (std::isnan(sum)) {
    std::transform(scores, scores + count, weights, [](float s) { return s == -kInfinity ? 0.0f : kNaN; });
    return {max, kNaN, kNaN};
  }
  for (Index j = 0; j < count; ++j) weights[j] /= sum;
  return {max, sum, max + std::log(sum)};
}

}  // namespace headscope::attention
