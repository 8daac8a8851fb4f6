#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "app/compute/plots/plot_data.h"

namespace headscope::app {
namespace {

using attention::Index;

constexpr double kNoWidth = std::numeric_limits<double>::quiet_NaN(), kEndless = INFINITY;

TEST(Thinning, FindsSmallestStepThatFits) {
  EXPECT_EQ(powerOfTwoStep(12, 46, 1000), 4);
  EXPECT_EQ(powerOfTwoStep(46, 46, 1000), 1);
  EXPECT_EQ(roundStep(1, 46, 1000), 50);
  EXPECT_EQ(roundStep(12, 46, 1000), 5);
  EXPECT_EQ(roundStep(5, 46, 1000), 10);
}

/// A window may leave no width, or a negative one, for the labels.
TEST(Thinning, TerminatesForAnyWidth) {
  for (const double each : {0.0, -1e-30, -70.0, kNoWidth, -kEndless, 1e-300})
    for (const double room : {46.0, 1e300, kEndless, kNoWidth})
      for (const Index count : {Index{0}, Index{1}, Index{12}, Index{1} << 40}) {
        EXPECT_GE(powerOfTwoStep(each, room, count), std::max<Index>(count, 1));
        EXPECT_GE(roundStep(each, room, count), std::max<Index>(count, 1));
      }
}

TEST(Thinning, LimitsPlacesBetween) {
  EXPECT_EQ(placesBetween(0, 10, 4), (std::vector<float>{0, 4, 8}));
  EXPECT_TRUE(placesBetween(10, 0, 4).empty());
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = INFINITY;
  for (const float step : {0.0f, -1.0f, nan}) EXPECT_TRUE(placesBetween(0, 10, step).empty());
  EXPECT_TRUE(placesBetween(nan, 10, 1).empty());
  EXPECT_TRUE(placesBetween(0, infinity, 1).empty());
  // At this distance a step no longer changes the float.
  EXPECT_LE(placesBetween(1e9f, 1e9f + 1000, 1).size(), static_cast<std::size_t>(kMaxPlaces));
  EXPECT_EQ(placesBetween(0, 1e30f, 1e-3f).size(), static_cast<std::size_t>(kMaxPlaces));
}

}  // namespace
}  // namespace headscope::app
