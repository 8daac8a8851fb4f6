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
  ui.session().scene().setup.model.modelDim = 8;  // as a file may have it
  ui.session().scene().setup.model.headDim = 1;
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

TEST_F(Picture, Presenting) {
  ui.key(app::Key::p);
  ui.key(static_cast<app::Key>('D'));
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "present_heads"));
}

TEST_F(Picture, PresentingOneHead) {
  ui.key(app::Key::p);
  ui.key(app::Key::right);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "present_head"));
}

TEST_F(Picture, PresentingTheMask) {
  ui.click("page.mask");
  ui.key(app::Key::p);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "present_mask"));
}

TEST_F(Picture, PresentingTheMap) {
  ui.session().scene().map.source = app::MapSource::generated;
  ui.session().scene().map.tokens = 2000;
  ui.session().scene().cursor.cell.head = 6;
  ui.key(static_cast<Key>('3'));
  ui.key(app::Key::p);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "present_map"));
}

TEST_F(Picture, FullHd) {
  ui.resize(1920, 1080);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "window_1080"));
}

TEST_F(Picture, FullHdMaskLight) {
  ui.resize(1920, 1080);
  ui.chord(kCtrl, Key::l);
  ui.click("page.mask");
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "studio_1080_light"));
}

TEST_F(Picture, UltraHdAtTwiceTheSize) {
  ui.resize(3840, 2160, 2);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "window_2160_200"));
}

TEST_F(Picture, UltraHd) {
  ui.resize(3840, 2160);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "window_2160"));
}

TEST_F(Picture, TwiceTheSize) {
  ui.resize(1920, 1080, 2);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "window_200"));
}

TEST_F(Picture, SmallestWindow) {
  ui.resize(640, 400);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "window_smallest"));
}

TEST_F(Picture, MaskStudio) {
  ui.click("page.mask");
  ui.replaceText("expression", "causal & (window(4) | sinks(1)) & heads(even): !window(1)");
  ui.clickAway();
  ui.click("layer.1");
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "studio_layers"));
}

TEST_F(Picture, MaskGallery) {
  ui.click("page.mask");
  ui.click("add_pattern");
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "studio_gallery"));
}

TEST_F(Picture, MaskBiases) {
  ui.click("page.mask");
  ui.click("room.biases");
  ui.key(Key::r);  // the drawer: at this size it is closed
  ui.click("bias_position.alibi");
  ui.key(Key::r);
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "studio_biases"));
}

TEST_F(Picture, TwoMasks) {
  ui.click("page.mask");
  ui.click("room.compare");
  ui.click("make_other");
  ui.replaceText("expression", "window(3)");
  ui.clickAway();
  ui.click("strip.5");
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "studio_compare"));
}

TEST_F(Picture, TwoMasksByWipe) {
  ui.chord(kCtrl, Key::l);
  ui.click("page.mask");
  ui.click("room.compare");
  ui.click("make_other");
  ui.replaceText("expression", "window(3)");
  ui.clickAway();
  ui.click("compare_how.wipe");
  ui.click("compare_what.masks");
  ui.wait(1);
  EXPECT_TRUE(imagesMatch(image(), "studio_wipe"));
}

TEST_F(Picture, Map) {
  ui.session().scene().map.source = app::MapSource::generated;
  ui.session().scene().map.tokens = 2000;
  ui.session().scene().cursor.cell.head = 6;
  ui.key(static_cast<Key>('3'));
  EXPECT_TRUE(imagesMatch(image(), "map_whole"));
}

TEST_F(Picture, MapOfSingleCells) {
  ui.session().scene().map.source = app::MapSource::generated;
  ui.session().scene().map.tokens = 1100;
  ui.session().scene().cursor.cell.head = 5;
  ui.chord(kCtrl, Key::l);
  ui.key(static_cast<Key>('3'));
  ui.replaceText("map.go_to", "812, 806\n");
  EXPECT_TRUE(imagesMatch(image(), "map_cells"));
}

}  // namespace
}  // namespace headscope::test
