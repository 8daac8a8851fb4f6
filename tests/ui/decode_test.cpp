// Decoding step by step: what the cache holds, what is highlighted, and what is impossible.

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

TEST(Decode, ButtonsStepBetweenPrefillAndEnd) {
  UiDriver ui;
  ASSERT_FALSE(ui.scene().cursor.decoding);
  ui.click("decode.forward");
  EXPECT_TRUE(ui.scene().cursor.decoding);
  EXPECT_EQ(ui.scene().cursor.step, 4) << "it begins with what the prefill took in";
  ui.click("decode.forward");
  EXPECT_EQ(ui.scene().cursor.step, 5);
  EXPECT_EQ(ui.scene().cursor.cell.query, 4) << "the newest token is the query that is explained";
  ui.click("decode.back").click("decode.back");
  EXPECT_EQ(ui.scene().cursor.step, 4) << "not below the prefill";
  for (int i = 0; i < 12; ++i) ui.key(Key::period);
  EXPECT_EQ(ui.scene().cursor.step, 12);
  ui.key(Key::comma);
  EXPECT_EQ(ui.scene().cursor.step, 11);
  ui.click("decode.leave");
  EXPECT_FALSE(ui.scene().cursor.decoding);
}

TEST(Decode, SteppingComputesNothingAndAddsNoUndoStep) {
  UiDriver ui;
  const app::Snapshot* snapshot = ui.session().snapshot();
  ui.click("decode.forward").key(Key::period);
  EXPECT_EQ(ui.session().snapshot(), snapshot);
  EXPECT_FALSE(ui.session().document().canUndo());
}

TEST(Decode, FadesRowsAfterTheStep) {
  UiDriver ui;
  ui.park();
  ui.session().scene().cursor.cell = {0, 0, 0};
  ui.draw();
  const render::Image all = ui.screenshot();
  const ImRect tile = ui.find("head.3");
  ui.session().scene().cursor.decoding = true;
  ui.session().scene().cursor.step = 6;
  ui.draw();
  const render::Image half = ui.screenshot();
  // Twelve rows. The areas start a cell inside the tile to avoid the crosshair's outline.
  const float row = tile.GetHeight() / 12, column = tile.GetWidth() / 12;
  const ImRect above(tile.Min.x + 1.5f * column, tile.Min.y + 2 * row, tile.Max.x, tile.Min.y + 5.8f * row);
  const ImRect below(tile.Min.x + 1.5f * column, tile.Min.y + 6.2f * row, tile.Max.x, tile.Max.y - 2);
  EXPECT_EQ(pixelsApart(all, half, above), 0) << "what is decoded stays as it was";
  EXPECT_GT(pixelsApart(all, half, below), static_cast<int>(below.GetArea() / 4)) << "what is not yet, fades";
}

TEST(Decode, PlayAdvancesPausesAndRestarts) {
  UiDriver ui;
  ui.click("decode.play");
  EXPECT_TRUE(ui.heads().play.on);
  EXPECT_EQ(ui.scene().cursor.step, 4);
  ui.wait(0.8);
  EXPECT_EQ(ui.scene().cursor.step, 5);
  ui.key(Key::space);
  EXPECT_FALSE(ui.heads().play.on);
  const app::Index paused = ui.scene().cursor.step;
  ui.wait(2);
  EXPECT_EQ(ui.scene().cursor.step, paused);
  ui.key(Key::space).wait(12);
  EXPECT_EQ(ui.scene().cursor.step, 12);
  EXPECT_FALSE(ui.heads().play.on) << "it stops at the end";
  ui.click("decode.play");
  EXPECT_EQ(ui.scene().cursor.step, 4) << "played again, it begins anew";
}

TEST(Decode, StepAndPrefillSlidersReachTheirEnds) {
  UiDriver ui(1920, 1080);
  ui.dragTo("step", -0.2f);
  EXPECT_TRUE(ui.scene().cursor.decoding);
  EXPECT_EQ(ui.scene().cursor.step, 4) << "the prefill comes in at once";
  ui.dragTo("step", 1.2f);
  EXPECT_EQ(ui.scene().cursor.step, 12);
  EXPECT_FALSE(ui.session().document().canUndo());
  ui.dragTo("prefill", -0.2f);
  EXPECT_EQ(ui.scene().setup.prefill, 1);
  EXPECT_EQ(ui.sequence().decode.prefill, 1);
  EXPECT_EQ(ui.sequence().decode.steps, 11);
  ui.dragTo("prefill", 1.2f);
  EXPECT_EQ(ui.scene().setup.prefill, 12);
  EXPECT_EQ(ui.sequence().decode.steps, 0);
  EXPECT_TRUE(ui.session().document().canUndo()) << "the prefill belongs to the scene";
}

TEST(Decode, CachedDecodeMatchesFullPass) {
  UiDriver ui;
  ASSERT_TRUE(ui.sequence().decode.applies);
  EXPECT_EQ(ui.sequence().decode.steps, 8);
  // A row's output is a sum over 256 dimensions, which the two passes add in different orders.
  const float largest = ui.sequence().attention.output.cwiseAbs().maxCoeff();
  EXPECT_LE(ui.sequence().decode.maxDifference, 256 * std::numeric_limits<float>::epsilon() * largest);
}

TEST(Decode, StopsWithoutCausalityAndShowsWhy) {
  UiDriver ui;
  ui.click("decode.forward");
  ASSERT_TRUE(ui.scene().cursor.decoding);
  ui.click("causal");
  EXPECT_FALSE(ui.scene().cursor.decoding);
  const Scene before = ui.scene();
  for (const char* name : {"decode.back", "decode.play", "decode.forward"}) ui.click(name);
  ui.key(Key::period).key(Key::space);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_FALSE(ui.heads().play.on);
  ui.hover("decode.forward");
  const render::Image pointed = ui.screenshot();
  ui.park();
  EXPECT_GT(pixelsApart(pointed, ui.screenshot()), 500) << "the reason stands beside the pointer";
}

TEST(Decode, HoveringAStripSelectsItsKey) {
  UiDriver ui(1920, 1080);
  ui.hoverAt("cache.strips", 2.5f / 12, 0.5f);
  EXPECT_EQ(ui.view().hover.key, 2);
  EXPECT_EQ(ui.view().hover.query, -1);
}

TEST(Decode, SharedBandsDisappearAndOthersKeepTheirHeight) {
  UiDriver ui(1920, 1080);
  ui.click("kind.mha");
  const ImRect first = ui.find("strip.0"), last = ui.find("strip.7");
  EXPECT_GT(last.Min.y, first.Max.y);
  EXPECT_FALSE(ui.has("void.0"));
  for (const app::Index kvHeads : {2, 1}) {
    ui.click(kvHeads == 1 ? "kind.mqa" : "kind.gqa");
    ASSERT_EQ(ui.scene().setup.model.kvHeads, kvHeads);
    EXPECT_EQ(ui.find("strip.0").GetHeight(), first.GetHeight()) << kvHeads;
    EXPECT_EQ(ui.find("strip.0").GetWidth(), first.GetWidth()) << "one axis of full length";
    EXPECT_FALSE(ui.has("strip." + std::to_string(kvHeads)));
  }
  EXPECT_NEAR(ui.find("void.0").Max.y, last.Max.y, 6) << "as high as the seven bands that are gone";
}

TEST(Decode, ShorterTextClampsTheStep) {
  UiDriver ui;
  for (int i = 0; i < 20; ++i) ui.key(Key::period);
  ASSERT_EQ(ui.scene().cursor.step, 12);
  ui.replaceText("text", "a b c");
  EXPECT_GE(ui.scene().cursor.step, 1);
  EXPECT_LE(ui.scene().cursor.step, 3);
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

}  // namespace
}  // namespace headscope::test
