// Undo and redo as a user meets them: the scene comes back exactly, and so does the picture.

#include <gtest/gtest.h>

#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

void undo(UiDriver& ui) {
  ui.chord(kCtrl, Key::z);
}
void redo(UiDriver& ui) {
  ui.chord(kCtrlShift, Key::z);
}

/// The picture with the side panel scrolled to its top and the pointer parked.
render::Image picture(UiDriver& ui) {
  ui.scrollToTop().park();
  ui.view().messages.clear();  // messages disappear with time
  return ui.screenshot();
}

/// Makes one edit of each kind that undo has to revert.
void editALot(UiDriver& ui) {
  ui.dragTo("heads", 0.67f).wait(0.6).click("kind.mqa").turn("sharpness", 3).wait(0.6);
  ui.click("causal").click("bias").click("weights.random").choose("range", "per_head");
  ui.choose("colormap", "magma").replaceText("text", "we 我 🐱 go").clickAway().wait(0.6);
  ui.click("position.alibi");
}

/// Without the weight before the last change, which the receipt shows until another cell is selected: it
/// belongs to the window, not to the scene.
render::Image pictureOfScene(UiDriver& ui) {
  for (const app::Index query : {1, 0}) {
    ui.session().scene().cursor.cell.query = query;
    ui.draw();
  }
  return picture(ui);
}

TEST(Undo, UndoAllAndRedoAllRestoreSceneAndPicture) {
  UiDriver ui;
  const Scene start = ui.scene();
  // Undo leaves the cursor where it is, so keep it inside all texts of this test.
  ui.session().scene().cursor.cell = {0, 0, 0};
  const render::Image first = picture(ui);
  editALot(ui);
  const Scene end = ui.scene();
  const render::Image last = pictureOfScene(ui);
  ASSERT_GT(pixelsApart(first, last), 10000);
  int steps = 0;
  for (; ui.session().document().canUndo() && steps < 100; ++steps) undo(ui);
  EXPECT_EQ(steps, 10);
  EXPECT_TRUE(ui.scene().setup == start.setup);
  EXPECT_TRUE(ui.scene().look == start.look);
  // The only difference is that redo is available now.
  const render::Image again = pictureOfScene(ui);
  // Typing another script has moved glyphs in the atlas, and filtering slanted ones may round to the next
  // step of a channel.
  constexpr int kStep = 1;
  const int changed = pixelsApart(again, first, {}, kStep);
  EXPECT_EQ(changed - pixelsApart(again, first, ui.find("bar.redo"), kStep), 0);
  for (int i = 0; ui.session().document().canRedo() && i < 100; ++i) redo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(end));
  EXPECT_EQ(pixelsApart(pictureOfScene(ui), last), 0);
}

TEST(Undo, RedoRetracesEveryUndoStep) {
  UiDriver ui;
  editALot(ui);
  std::vector<std::string> back;
  for (; ui.session().document().canUndo() && back.size() < 100; undo(ui)) back.push_back(ui.sceneText());
  back.push_back(ui.sceneText());
  for (std::size_t i = back.size(); i-- > 0;) {
    EXPECT_EQ(ui.sceneText(), back[i]) << "step " << i;
    if (i > 0) redo(ui);
  }
  EXPECT_FALSE(ui.session().document().canRedo());
}

TEST(Undo, LongDragIsOneStep) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.dragAcross("sharpness.track", ImVec2(0.1f, 0.5f), ImVec2(0.9f, 0.5f));
  ASSERT_NE(ui.sceneText(), UiDriver::textOf(before));
  undo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_FALSE(ui.session().document().canUndo());
}

TEST(Undo, PausedDragIsOneStep) {
  UiDriver ui;
  const Scene before = ui.scene();
  const ImRect track = ui.find("heads.track");
  ui.moveTo(track.Min.x + track.GetWidth() * 0.2f, track.GetCenter().y).press().wait(1);
  ui.moveTo(track.Min.x + track.GetWidth() * 0.8f, track.GetCenter().y).wait(1).release();
  ui.wait(1);
  undo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

TEST(Undo, QuickEditsOfTwoControlsAreTwoSteps) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.turn("heads", 1);
  const Scene between = ui.scene();
  ui.turn("sharpness", 2);
  undo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(between));
  undo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_FALSE(ui.session().document().canUndo());
}

TEST(Undo, SeparateDragsOfOneSliderAreTwoSteps) {
  UiDriver ui;
  ui.dragTo("sharpness", 0.8f).wait(1);
  const Scene between = ui.scene();
  ui.dragTo("sharpness", 0.2f).wait(1);
  undo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(between));
}

TEST(Undo, RevertsAndRedoesABurstAsOneStep) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.turn("heads", 2);
  const Scene after = ui.scene();
  undo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  redo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(after));
}

TEST(Undo, EditAfterUndoClearsRedo) {
  UiDriver ui;
  ui.click("bias").click("causal");
  undo(ui);
  ASSERT_TRUE(ui.session().document().canRedo());
  ui.click("scaled");
  EXPECT_FALSE(ui.session().document().canRedo());
  const Scene after = ui.scene();
  redo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(after));
}

TEST(Undo, NavigationAddsNoUndoStep) {
  UiDriver ui;
  ui.click("head.3").wheel("focus", 2).key(Key::escape).click("sentence.query.2");
  EXPECT_FALSE(ui.session().document().canUndo());
}

TEST(Undo, FastChordUndoesExactlyOnce) {
  UiDriver ui;
  ui.click("bias");
  const Scene one = ui.scene();
  ui.click("causal").click("scaled");
  const Scene three = ui.scene();
  // Control down, Z down, Control up, Z up, all before the next frame.
  ui.pushKey(Key::none, kCtrl, true).pushKey(Key::z, kCtrl, true).pushKey(Key::none, {}, false);
  ui.pushKey(Key::z, {}, false).frames(1);
  EXPECT_TRUE(ui.scene().setup.model.scaled);
  EXPECT_FALSE(ui.scene().setup.mask.layers[0].on) << "undone once, not twice: causal is still off";
  // Two whole chords and a redo in one queue.
  for (const app::Mods mods : {kCtrl, kCtrl, kCtrlShift})
    ui.pushKey(Key::z, mods, true).pushKey(Key::z, mods, false);
  ui.draw();
  EXPECT_TRUE(ui.scene().setup.model.bias);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(one));
  redo(ui);
  redo(ui);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(three));
}

TEST(Undo, CtrlYRedoes) {
  UiDriver ui;
  ui.click("bias");
  undo(ui);
  ASSERT_FALSE(ui.scene().setup.model.bias);
  ui.chord(kCtrl, Key::y);
  EXPECT_TRUE(ui.scene().setup.model.bias);
}

TEST(Undo, WithoutHistoryNothingHappens) {
  UiDriver ui;
  const Scene before = ui.scene();
  undo(ui);
  redo(ui);
  ui.click("bar.undo").click("bar.redo");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

}  // namespace
}  // namespace headscope::test
