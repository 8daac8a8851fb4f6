// Elements that stood elsewhere before a click move to their new places.

#include "app/kit/motion.h"

#include <gtest/gtest.h>

#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

/// The left edge of head 3's title, which stands over its picture.
float titleLeft(UiDriver& ui) {
  return ui.find("title.3").Min.x;
}

TEST(Motion, AnEnlargedHeadComesFromItsPlaceAndGoesBack) {
  UiDriver ui;
  ui.view().preferences.reducedMotion = false;
  ui.park().wait(0.5);
  const float place = titleLeft(ui);
  ui.click("head.3");
  const float onTheWay = titleLeft(ui);
  EXPECT_TRUE(ui.has("focus")) << "it can be used at once";
  ui.wait(0.6);
  const float large = titleLeft(ui);
  ASSERT_GT(std::abs(place - large), 50);
  EXPECT_GT(std::abs(onTheWay - large), 1);
  EXPECT_LT(std::abs(onTheWay - large), std::abs(place - large) + 1);
  ui.key(Key::escape);
  EXPECT_GT(std::abs(titleLeft(ui) - place), 1);
  ui.wait(0.6);
  EXPECT_NEAR(titleLeft(ui), place, 1);
}

TEST(Motion, NothingMovesWithReducedMotion) {
  UiDriver ui;
  ui.view().preferences.reducedMotion = true;
  ui.park().wait(0.5).click("head.3");
  const float first = titleLeft(ui);
  ui.wait(0.6);
  EXPECT_NEAR(titleLeft(ui), first, 0.5);
}

TEST(Motion, NothingMovesWhileTheWindowGetsAnotherSize) {
  UiDriver ui;
  ui.view().preferences.reducedMotion = false;
  ui.park().wait(0.5).resize(1300, 800);
  const float first = titleLeft(ui);
  ui.wait(0.6);
  EXPECT_NEAR(titleLeft(ui), first, 0.5);
}

}  // namespace
}  // namespace headscope::test
