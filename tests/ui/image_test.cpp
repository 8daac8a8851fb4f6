// The main states of the window against pictures that were looked at.

#include <gtest/gtest.h>

#include "tests/support/compare_image.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

/// The smallest window that is meant to look good.
class Picture : public testing::Test {
 protected:
  render::Image image() {
    ui.park();
    return ui.screenshot();
  }
  UiDriver ui{1280, 720};
};

TEST_F(Picture, OpeningDark) {
  EXPECT_TRUE(imagesMatch(image(), "window_opening_dark"));
}

TEST_F(Picture, OpeningLight) {
  ui.chord(kCtrl, Key::l);
  EXPECT_TRUE(imagesMatch(image(), "window_opening_light"));
}

TEST_F(Picture, FocusedHead) {
  ui.clickAt("head.6", 1.5f / 12, 7.5f / 12);
  EXPECT_TRUE(imagesMatch(image(), "window_focus"));
}

TEST_F(Picture, DecodeStep) {
  for (int i = 0; i < 3; ++i) ui.key(Key::period);
  EXPECT_TRUE(imagesMatch(image(), "window_decode"));
}

TEST_F(Picture, ScoresDiverging) {
  ui.choose("quantity", "scores");
  ui.choose("colormap", "diverging");
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "window_scores"));
}

TEST_F(Picture, EmptyText) {
  ui.replaceText("text", "");
  ui.clickAway();
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "window_empty"));
}

TEST_F(Picture, Error) {
  ui.typeValue("model_dim", "8");
  ui.wait(1);
  ASSERT_TRUE(ui.snapshot().error.has_value());
  EXPECT_TRUE(imagesMatch(image(), "window_error"));
}

TEST_F(Picture, SixtyFourHeads) {
  ui.typeValue("model_dim", "2048");  // at 256 a head of 4 dimensions could not hold what is planted
  ui.dragTo("heads", 1.2f);
  ui.wait(1);
  ASSERT_EQ(ui.snapshot().config.heads, 64);
  ASSERT_FALSE(ui.snapshot().error.has_value());
  EXPECT_TRUE(imagesMatch(image(), "window_64_heads"));
}

}  // namespace
}  // namespace headscope::test
