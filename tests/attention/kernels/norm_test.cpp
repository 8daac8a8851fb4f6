#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attention/core/activations.h"
#include "attention/core/random.h"

namespace headscope::attention::test {
namespace {

/// Random numbers around `middle`, so that there is a mean to subtract.
std::vector<float> numbersRound(float middle, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> numbers(count);
  for (float& x : numbers) x = middle + static_cast<float>(random.uniform()) - 0.5f;
  return numbers;
}

struct Norm {
  bool centred;
  std::vector<double> operator()(const std::vector<float>& x, const std::vector<float>& weight,
                                 const std::vector<float>& bias, double epsilon) const {
    const auto size = static_cast<double>(x.size());
    double mean = 0, square = 0;
    for (const float value : x) mean += centred ? value / size : 0;
    for (const float value : x) square += (value - mean) * (value - mean) / size;
    std::vector<double> y;
    for (std::size_t i = 0; i < x.size(); ++i)
      y.push_back((x[i] - mean) / std::sqrt(square + epsilon) * weight[i] + (centred ? bias[i] : 0));
    return y;
  }
};

TEST(Norm, MatchesFormulaForEveryCount) {
  for (std::size_t count = 1; count < 70; ++count) {
    const std::vector<float> x = numbersRound(3, count, count), weight = numbersRound(1, count, count + 100),
                             bias = numbersRound(0, count, count + 200);
    for (const bool centred : {true, false}) {
      std::vector<float> y(count + 1, 7);
      const std::span to(y.data(), count);
      centred ? layerNorm(x, weight, bias, 1e-5, to) : rmsNorm(x, weight, 1e-6, to);
      const std::vector<double> wanted = Norm{centred}(x, weight, bias, centred ? 1e-5 : 1e-6);
      // One rounding each for the normed value, its product and its sum.
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_NEAR(y[i], wanted[i], 3 * 6e-8 * (std::abs(wanted[i]) + 1)) << count << ", " << i;
      EXPECT_EQ(y[count], 7) << "beyond the end";
    }
  }
}

TEST(Norm, NearlyEqualNumbersKeepPrecision) {
  std::vector<float> x(24, 1e6f);
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] += 0.25f;
  const std::vector<float> weight(x.size(), 1), bias(x.size(), 0), before = x;
  layerNorm(x, weight, bias, 0, x);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_FLOAT_EQ(x[i], i % 2 ? -1.0f : 1.0f) << before[i];
}

TEST(Norm, PropagatesNaN) {
  std::vector<float> x(20, 1);
  x[19] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> weight(x.size(), 1);
  rmsNorm(x, weight, 1e-6, x);
  for (const float value : x) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace headscope::attention::test
