#include "app/compute/plot_data.h"

#include <gtest/gtest.h>

namespace headscope::app {
namespace {

constexpr PlotEdges kEdges{100, 500};

TEST(PlotData, labelsOfMarksKeepClearOfThoseOfTheTicks) {
  const auto side = [](PlotSide wanted, double x, double y) {
    return clearSide(wanted, {x, y}, 60, 20, kEdges);
  };
  EXPECT_EQ(side(PlotSide::aboveLeft, 300, 300), PlotSide::aboveLeft);
  EXPECT_EQ(side(PlotSide::aboveLeft, 160, 300), PlotSide::aboveLeft) << "just inside";
  EXPECT_EQ(side(PlotSide::aboveLeft, 159, 300), PlotSide::belowRight);
  EXPECT_EQ(side(PlotSide::left, 159, 300), PlotSide::right);
  EXPECT_EQ(side(PlotSide::above, 120, 300), PlotSide::right);
  EXPECT_EQ(side(PlotSide::below, 300, 490), PlotSide::above);
  EXPECT_EQ(side(PlotSide::aboveLeft, 110, 490), PlotSide::right) << "neither at the left nor below";
  EXPECT_EQ(side(PlotSide::right, 300, 490), PlotSide::right);
}

}  // namespace
}  // namespace headscope::app
