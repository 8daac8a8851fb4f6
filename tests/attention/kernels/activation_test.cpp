#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "attention/core/activations.h"
#include "attention/kernels/norm.h"

namespace headscope::attention::kernels::test {
namespace {

constexpr float kLinear = 1.595769122f, kCubic = 0.0713548162f;  // 2·√(2/π), and 0.044715 times that

double sigmoidProduct(double x, double linear, double cubic) {
  return x / (1 + std::exp(-(linear * x + cubic * x * x * x)));
}

TEST(Activation, MatchesDefinitionForEveryCountAndMagnitude) {
  for (const auto& [linear, cubic] : {std::pair{1.0f, 0.0f}, {kLinear, kCubic}})
    for (std::size_t count = 0; count < 70; ++count) {
      std::vector<float> x(count + 1);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(std::pow(1.3, static_cast<double>(i % 24) - 12) * (i % 2 ? -1 : 1));
      const std::vector<float> before = x;
      timesSigmoid(x.data(), count, linear, cubic);
      for (std::size_t i = 0; i < count; ++i) {
        const double wanted = sigmoidProduct(before[i], linear, cubic);
        // The exponent is rounded too, by 2⁻²⁴ of its size in each of its three steps.
        const double exponent = std::abs(before[i] * (linear + cubic * before[i] * before[i]));
        const double limit = (1e-6 + 2e-7 * exponent) * std::abs(wanted) + 1e-30;
        EXPECT_NEAR(x[i], wanted, limit) << before[i] << ", " << count;
      }
      EXPECT_EQ(x[count], before[count]) << "beyond the end";
    }
}

TEST(Activation, SiluAndGeluMatchFormulas) {
  for (double x = -6; x <= 6; x += 0.37) {
    float byTanh = static_cast<float>(x), bySigmoid = byTanh;
    geluByTanh({&byTanh, 1});
    silu({&bySigmoid, 1});
    EXPECT_NEAR(byTanh, 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))), 2e-6);
    EXPECT_NEAR(bySigmoid, x / (1 + std::exp(-x)), 2e-6);
  }
}

TEST(Activation, LargeNumbersPassThroughOrBecomeZero) {
  for (const auto& [linear, cubic] : {std::pair{1.0f, 0.0f}, {kLinear, kCubic}}) {
    float x[] = {1e20f, -1e20f, 3e38f, -3e38f, 0, std::numeric_limits<float>::quiet_NaN()};
    timesSigmoid(x, 6, linear, cubic);
    EXPECT_EQ(x[0], 1e20f);
    EXPECT_EQ(x[1], 0);
    EXPECT_EQ(x[2], 3e38f);
    EXPECT_EQ(x[3], 0);
    EXPECT_EQ(x[4], 0);
    EXPECT_TRUE(std::isnan(x[5]));
  }
}

}  // namespace
}  // namespace headscope::attention::kernels::test
