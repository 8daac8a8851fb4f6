#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attention/core/activations.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/support/float_limits.h"

namespace headscope::attention::test {
namespace {

TEST(Softmax, ExponentialIsWithinTwoUlps) {
  for (int i = 0; i <= 100000; ++i) {
    const float x = -87.3f * static_cast<float>(i) / 100000;
    const double expected = std::exp(static_cast<double>(x));
    ASSERT_NEAR(expNonPositive(x), expected, 2 * kEpsilon * expected) << x;
  }
  EXPECT_EQ(expNonPositive(0), 1);
  EXPECT_EQ(expNonPositive(-0.0f), 1);
  EXPECT_EQ(expNonPositive(-88), 0);
  EXPECT_EQ(expNonPositive(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(expNonPositive(kNaN)));
}

TEST(Softmax, FullyMaskedRowGivesZeros) {
  const std::vector<float> scores(5, -kInfinity);
  std::vector<float> weights(5, 3.0f);
  const SoftmaxRow row = softmaxRow(scores.data(), 5, weights.data());
  EXPECT_EQ(weights, std::vector<float>(5, 0.0f));
  EXPECT_EQ(row.max, -kInfinity);
  EXPECT_EQ(row.sum, 0);
  EXPECT_EQ(row.lse, -kInfinity);
}

TEST(Softmax, NaNAffectsOnlyVisibleKeys) {
  for (const float odd : {kNaN, kInfinity})
    for (const float other : {2.0f, -kInfinity}) {
      const std::vector<float> scores = {other, odd, -kInfinity};
      std::vector<float> weights(3);
      const SoftmaxRow row = softmaxRow(scores.data(), 3, weights.data());
      EXPECT_EQ(std::isnan(weights[0]), other == 2.0f);
      EXPECT_TRUE(std::isnan(weights[1]));
      EXPECT_EQ(weights[2], 0);
      EXPECT_TRUE(std::isnan(row.lse));
    }
}

/// The logarithm of a float is off by at most 2^-23 plus 2^-23 of its size, and a sum of n floats adds at
/// most n roundings.
TEST(Softmax, EntropyMatchesDoublePrecision) {
  for (const int count : {1, 2, 15, 16, 17, 33, 512, 1000}) {
    std::vector<float> p(static_cast<std::size_t>(count));
    double sum = 0, expected = 0;
    for (int i = 0; i < count; ++i)
      sum += p[static_cast<std::size_t>(i)] = std::exp(-0.17f * static_cast<float>(i * 7 % count));
    for (float& each : p) {
      each = static_cast<float>(each / sum);
      if (each > 0) expected -= static_cast<double>(each) * std::log(static_cast<double>(each));
    }
    EXPECT_NEAR(entropy(p.data(), count), expected, (1 + expected) * 1e-6) << count << " probabilities";
  }
  const float extremes[] = {1, 0, 1e-45f, 0};
  EXPECT_NEAR(entropy(extremes, 4), 0, 1e-6);
  const float notANumber[] = {0.5f, std::nanf(""), 0.5f};
  EXPECT_TRUE(std::isnan(entropy(notANumber, 3)));
}

TEST(Softmax, BitsDontDependOnAlignment) {
  const Matrix values = gaussianMatrix(1, 61, 3) * 20;
  std::vector<float> first(61);
  softmaxRow(values.data(), 61, first.data());
  for (std::size_t offset = 1; offset < 8; ++offset) {
    std::vector<float> scores(offset), weights(61 + offset);
    scores.insert(scores.end(), values.data(), values.data() + 61);
    softmaxRow(scores.data() + offset, 61, weights.data() + offset);
    EXPECT_EQ(std::vector<float>(weights.begin() + static_cast<std::ptrdiff_t>(offset), weights.end()),
              first);
  }
}

}  // namespace
}  // namespace headscope::attention::test
