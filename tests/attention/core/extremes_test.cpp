#include "attention/core/extremes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace headscope::attention {
namespace {

constexpr float kNoNumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kBeyondAll = std::numeric_limits<float>::infinity();

/// The position of the NaN matters, because the result of Eigen's own reduction depends on the vector lane it
/// falls into.
TEST(Extremes, KeepNaNInMaximaAndSkipItInFiniteOnes) {
  for (Index size : {1, 3, 4, 8, 17, 64})
    for (Index at = 0; at < size; ++at) {
      Vector values = Vector::LinSpaced(size, -3, 2);
      values[at] = kNoNumber;
      EXPECT_TRUE(std::isnan(largestMagnitude(values))) << size << ", " << at;
      EXPECT_FALSE(std::isnan(largestFinite(values)));
      EXPECT_EQ(finiteRange(values).first, size == 1 ? 0 : at == 0 ? values[1] : values[0]);
    }
  EXPECT_TRUE(std::isnan(larger(kNoNumber, 1.0f)) && std::isnan(larger(1.0f, kNoNumber)));
  EXPECT_TRUE(std::isnan(stronger(kNoNumber, 1.0f)) && std::isnan(stronger(1.0f, kNoNumber)));
}

TEST(Extremes, FindTheLargestNumbers) {
  Vector values(3);
  values << 1, -5, 2;
  EXPECT_EQ(largestMagnitude(values), 5);
  EXPECT_EQ(largestFinite(values), 5);
  EXPECT_EQ(stronger(2.0f, -5.0f), -5);
  EXPECT_EQ(larger(2.0f, -5.0f), 2);
  values[1] = -kBeyondAll;
  EXPECT_EQ(largestMagnitude(values), kBeyondAll);
  EXPECT_EQ(largestFinite(values), 2);
  EXPECT_EQ(finiteRange(values), std::pair(1.0f, 2.0f));
  EXPECT_EQ(largestMagnitude(Vector()), 0);
  EXPECT_EQ(largestFinite(Vector()), 0);
  EXPECT_EQ(finiteRange(Vector()), std::pair(0.0f, 0.0f));
}

TEST(Extremes, SortNaNLast) {
  std::vector<float> values{kNoNumber, 1, kBeyondAll, kNoNumber, -2, 3, -kBeyondAll, kNoNumber};
  std::sort(values.begin(), values.end(), descends<float>);
  EXPECT_EQ(std::vector(values.begin(), values.begin() + 5),
            (std::vector<float>{kBeyondAll, 3, 1, -2, -kBeyondAll}));
  EXPECT_TRUE(std::all_of(values.begin() + 5, values.end(), [](float value) { return std::isnan(value); }));
}

}  // namespace
}  // namespace headscope::attention
