#include <gtest/gtest.h>

#include <vector>

#include "app/platform/window.h"

namespace headscope::app {
namespace {

const DesktopBox kLaptop{0, 0, 1440, 900}, kProjector{1440, 0, 1920, 1080}, kThird{-1280, 0, 1280, 1024};
const DesktopBox kOnLaptop{100, 100, 800, 600}, kOnProjector{1600, 50, 800, 600};

TEST(Screens, SingleScreenServesBothWindows) {
  EXPECT_EQ(screenRoles(std::vector{kLaptop}, kOnLaptop), (ScreenRoles{0, -1}));
  EXPECT_EQ(screenRoles({}, kOnLaptop), (ScreenRoles{-1, -1}));
}

TEST(Screens, HallUsesSecondScreenAndLecturerTheMain) {
  const std::vector screens{kLaptop, kProjector};
  EXPECT_EQ(screenRoles(screens, kOnLaptop), (ScreenRoles{1, 0}));
  EXPECT_EQ(screenRoles(screens, kOnProjector), (ScreenRoles{1, 0}));
}

TEST(Screens, HallKeepsItsScreenAmongThree) {
  const std::vector screens{kLaptop, kThird, kProjector};
  EXPECT_EQ(screenRoles(screens, kOnProjector), (ScreenRoles{2, 0}));
  EXPECT_EQ(screenRoles(screens, {-700, 10, 200, 200}), (ScreenRoles{1, 0}));
  EXPECT_EQ(screenRoles(screens, kOnLaptop), (ScreenRoles{1, 0}));
}

TEST(Screens, WindowMovesWhenItsScreenIsUnplugged) {
  const std::vector both{kLaptop, kProjector}, left{kLaptop};
  EXPECT_EQ(keptInSight(both, kOnProjector), kOnProjector);
  const DesktopBox kept = keptInSight(left, kOnProjector);
  EXPECT_EQ(screenOf(left, kept), 0);
  EXPECT_EQ(kept.width, kOnProjector.width);
  const DesktopBox whole = keptInSight(left, kProjector);
  EXPECT_EQ(whole, kLaptop) << "no larger than the screen that is left";
  EXPECT_EQ(keptInSight(left, kOnLaptop), kOnLaptop);
  EXPECT_EQ(keptInSight({}, kOnProjector), kOnProjector) << "nowhere to go";
}

}  // namespace
}  // namespace headscope::app
