#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/compute/plots/plot_data.h"

namespace headscope::app {
namespace {

constexpr PlotCells kCells{100, 0, 400, 200};
constexpr double kLine = 20, kOut = 10;

/// A plot with both axes from 1 to 100.
Plot emptyPlot() {
  Plot plot;
  plot.x.high = plot.y.high = 100;
  return plot;
}

PlotMark markAt(double x, double y, PlotSide side, bool chosen = true) {
  return {{x, y}, "mark", "", side, chosen, false};
}

/// The places of all labels, each 60 wide.
std::vector<std::optional<LabelPlace>> placesIn(const Plot& plot) {
  const std::vector<LabelSize> sizes(plot.marks.size(), {60, kLine});
  return markLabels(plot, kCells, sizes, kLine, kOut, endLabels(plot, kCells, kLine, 8));
}

TEST(PlotLabels, UsesPreferredSideWhenFree) {
  Plot plot = emptyPlot();
  plot.marks = {markAt(10, 10, PlotSide::aboveLeft)};
  const auto places = placesIn(plot);
  ASSERT_TRUE(places[0]);
  EXPECT_DOUBLE_EQ(places[0]->x, 300 - kOut);
  EXPECT_DOUBLE_EQ(places[0]->share, 1);
  EXPECT_LT(places[0]->y, 100);
}

TEST(PlotLabels, AvoidsTickLabels) {
  Plot plot = emptyPlot();
  plot.marks = {markAt(1.2, 10, PlotSide::aboveLeft)};
  EXPECT_GE(placesIn(plot)[0]->x, 100) << "not at the left of the cells";
  EXPECT_EQ(placesIn(plot)[0]->share, 0);
  plot.marks = {markAt(10, 1.05, PlotSide::below)};
  EXPECT_LE(placesIn(plot)[0]->y + kLine / 2, 200) << "nor below them";
  plot.marks = {markAt(1, 1, PlotSide::below)};
  EXPECT_LE(placesIn(plot)[0]->y + kLine / 2, 210);
  EXPECT_EQ(placesIn(plot)[0]->share, 0);
}

TEST(PlotLabels, AvoidsOtherLabelsMarksAndLines) {
  Plot plot = emptyPlot();
  plot.marks = {markAt(10, 10, PlotSide::right), markAt(12, 10, PlotSide::right, false)};
  auto places = placesIn(plot);
  ASSERT_TRUE(places[0] && places[1]);
  const auto left = [](const LabelPlace& place) { return place.x - place.share * 60; };
  EXPECT_TRUE(std::abs(places[0]->y - places[1]->y) >= kLine ||
              std::abs(left(*places[0]) - left(*places[1])) >= 60);
  // A rising line crosses the place below the mark.
  plot.lines = {{"", {{1, 1}, {100, 100}}, Dash::solid, true}};
  plot.marks = {markAt(10, 10, PlotSide::below)};
  EXPECT_NE(placesIn(plot)[0]->share, 0.5);
}

TEST(PlotLabels, HidesLabelsWithoutSpaceExceptTheSelected) {
  Plot plot = emptyPlot();
  for (int i = 0; i < 12; ++i) plot.marks.push_back(markAt(10 + 0.01 * i, 10, PlotSide::right, i == 11));
  const auto places = placesIn(plot);
  EXPECT_TRUE(places[11]);
  EXPECT_LT(std::count_if(places.begin(), places.end(), [](const auto& place) { return place.has_value(); }),
            8);
}

TEST(PlotLabels, LinesEndingTogetherShareOneLabel) {
  Plot plot = emptyPlot();
  plot.lines = {{"a", {{1, 1}, {100, 50}}}, {"b", {{1, 2}, {100, 50}}}, {"c", {{1, 3}, {100, 55}}}};
  plot.lines[1].chosen = true;
  const auto ends = endLabels(plot, kCells, kLine, 8);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].text, "c");
  EXPECT_EQ(ends[1].text, "b = a");
  EXPECT_GE(ends[1].y - ends[0].y, kLine - 1e-6);
}

TEST(PlotLabels, LabelsSelectedLineAtItsEarlyExit) {
  Plot plot = emptyPlot();
  plot.lines = {{"early", {{1, 1}, {10, 100}}}, {"chosen", {{1, 2}, {20, 100}}, Dash::solid, true}};
  const auto ends = endLabels(plot, kCells, kLine, 8);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].text, "chosen");
  EXPECT_LT(ends[0].x, kCells.right());
}

}  // namespace
}  // namespace headscope::app
