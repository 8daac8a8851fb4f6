// The look of colours, hatches and curves, compared with reviewed pictures; and every state of the window has
// the space it needs.

#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"

namespace headscope::test {
namespace {

using app::Key;

/// The smallest window that is meant to look good.
class Picture : public testing::Test {
 protected:
  render::Image image(const std::string& control) {
    ui.park();
    return ui.screenshot(control);
  }
  void expectRoom() {
    ui.park().wait(1);
    EXPECT_THAT(flaws(ui), IsEmpty());
  }
  UiDriver ui{1280, 720};
};

/// The only two pictures of whole pages: how everything fits together, in each theme.
TEST_F(Picture, OpeningDark) {
  ui.park();
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "window_opening_dark"));
}

TEST_F(Picture, SmallestWindowLight) {
  ui.resize(640, 400).chord(kCtrl, Key::l).wait(1).park();
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "window_smallest"));
}

TEST_F(Picture, HeadLight) {
  ui.chord(kCtrl, Key::l);
  EXPECT_TRUE(imagesMatch(image("head.6"), "head_light"));
}

TEST_F(Picture, FocusedHead) {
  ui.clickAt("head.6", 1.5f / 12, 7.5f / 12);
  EXPECT_TRUE(imagesMatch(image("focus"), "head_focus"));
}

TEST_F(Picture, DecodeStep) {
  for (int i = 0; i < 3; ++i) ui.key(Key::period);
  EXPECT_TRUE(imagesMatch(image("head.6"), "head_decode"));
}

TEST_F(Picture, ScoresDiverging) {
  ui.choose("quantity", "scores").choose("colormap", "diverging").wait(1);
  EXPECT_TRUE(imagesMatch(image("head.6"), "head_scores"));
}

TEST_F(Picture, EmptyTextFits) {
  ui.replaceText("text", "").clickAway().wait(1);
  EXPECT_TRUE(ui.has("empty.input.sample"));
  expectRoom();
}

TEST_F(Picture, ErrorFits) {
  ui.session().scene().setup.model.modelDim = 8;  // as a file may contain
  ui.session().scene().setup.model.headDim = 1;
  ui.wait(1);
  ASSERT_TRUE(ui.snapshot().error.has_value());
  expectRoom();
}

TEST_F(Picture, SixtyFourHeadsFit) {
  ui.typeValue("model_dim", "2048");  // with 256, a head of 4 dimensions could not hold what is planted
  ui.dragTo("heads", 1.2f).wait(1);
  ASSERT_EQ(ui.snapshot().config.heads, 64);
  ASSERT_FALSE(ui.snapshot().error.has_value());
  ui.park().wait(1);
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

TEST_F(Picture, PresentingOneHeadFits) {
  ui.key(Key::p).key(Key::right);
  expectRoom();
}

TEST_F(Picture, MaskLayers) {
  ui.click("page.mask");
  ui.replaceText("expression", "causal & (window(4) | sinks(1)) & heads(even): !window(1)");
  ui.clickAway().click("layer.1").wait(1);
  EXPECT_TRUE(imagesMatch(image("mask_map"), "mask_layers"));
  expectRoom();
}

TEST_F(Picture, MaskGalleryFits) {
  ui.click("page.mask").click("add_pattern").wait(1).park();
  std::vector<ImRect> patterns;  // visible without scrolling
  for (const auto& [name, rect] : app::uiState().tracks)
    if (name.starts_with("gallery.")) patterns.push_back(rect);
  ASSERT_GT(patterns.size(), 5u);
  for (std::size_t i = 0; i < patterns.size(); ++i)
    for (std::size_t j = i + 1; j < patterns.size(); ++j) EXPECT_FALSE(patterns[i].Overlaps(patterns[j]));
}

TEST_F(Picture, TwoMasksFit) {
  ui.click("page.mask").click("studio_view.compare").click("make_other");
  ui.replaceText("expression", "window(3)").clickAway().click("strip.5");
  expectRoom();
}

TEST_F(Picture, TwoMasksByWipe) {
  ui.chord(kCtrl, Key::l).click("page.mask").click("studio_view.compare").click("make_other");
  ui.replaceText("expression", "window(3)").clickAway().click("compare_how.wipe");
  ui.click("compare_what.masks").wait(1);
  EXPECT_TRUE(imagesMatch(image("a_map"), "mask_wipe"));
  expectRoom();
}

class MapPicture : public Picture {
 protected:
  void show(app::Index tokens, app::Index head) {
    ui.resize(960, 540);
    ui.session().scene().map.source = app::MapSource::generated;
    ui.session().scene().map.tokens = tokens;
    ui.session().scene().cursor.cell.head = head;
    ui.key(static_cast<Key>('4'));
  }
};

TEST_F(MapPicture, AllTokens) {
  show(2000, 6);
  EXPECT_TRUE(imagesMatch(image("map"), "map_whole"));
}

TEST_F(MapPicture, SingleCells) {
  ui.chord(kCtrl, Key::l);
  show(1100, 5);
  ui.replaceText("map.go_to", "812, 806\n");
  EXPECT_TRUE(imagesMatch(image("map"), "map_cells"));
}

}  // namespace
}  // namespace headscope::test
