// A talk when presented: navigation, drawing, notes.

#include "app/scene/scene_json.h"
#include "tests/ui/stage/talk_support.h"

namespace headscope::test {
namespace {

using app::Key;

class TalkOnStage : public Talk {};

TEST_F(TalkOnStage, PresentsViewsWithoutTheEditor) {
  threeViews();
  app::uiState().watches = true;
  ui.key(Key::p);
  EXPECT_TRUE(ui.view().present);
  EXPECT_FALSE(ui.has("talk.view.0"));
  EXPECT_FALSE(ui.has("talk.notes"));
  EXPECT_TRUE(ui.has("head.0")) << "the heads of the first view";
  press(Key::pageDown);
  EXPECT_EQ(shownPage(), "cache");
  press(Key::space);
  EXPECT_EQ(shownPage(), "cost") << "Cost has no use for Space";
  press(Key::pageUp);
  EXPECT_EQ(shownPage(), "cache");
  press(Key::period);
  EXPECT_TRUE(ui.session().stage().blank) << "a clicker's dark screen";
  press(Key::escape);
  press(Key::escape);
  EXPECT_FALSE(ui.view().present);
  EXPECT_TRUE(ui.has("talk.view.0"));
}

TEST_F(TalkOnStage, NotesAppearBelowViewWithoutOverlap) {
  threeViews();
  ui.replaceText("talk.notes", "Ask the hall").clickAway().key(Key::p);
  press(Key::n);
  const ImRect notes = ui.find("stage.notes.text");
  for (const std::string& name : ui.names())
    if (name.starts_with("head.") || name.starts_with("sentence")) {
      EXPECT_FALSE(ui.find(name).Overlaps(notes)) << name;
    }
  EXPECT_TRUE(ui.has("head.0"));
  press(Key::n);
  EXPECT_FALSE(ui.has("stage.notes.text"));
}

TEST_F(TalkOnStage, ShiftPPresentsFromFirstView) {
  press(Key::p, {.shift = true});
  EXPECT_FALSE(ui.view().present) << "there is no talk";
  threeViews();
  press(Key::end);
  go("mask");
  press(Key::p, {.shift = true});
  EXPECT_TRUE(ui.view().present);
  EXPECT_EQ(own().cursor.page, "talk");
  EXPECT_EQ(shownPage(), "heads");
}

TEST_F(TalkOnStage, ViewKeepsPenStrokesAndUndoRestoresErasedOnes) {
  ui.view().present = true;
  ui.draw();
  press(static_cast<Key>('W'));
  ui.dragAcross("head.3", ImVec2(0.2f, 0.4f), ImVec2(0.6f, 0.8f));
  press(static_cast<Key>('W'));
  ASSERT_TRUE(ui.has("stage.stroke.0"));
  add();
  const auto& kept = own().talk->views[0].scene->look.strokes;
  ASSERT_EQ(kept->size(), 1u);
  EXPECT_EQ(kept->front().on, "head.3");
  press(Key::backspace);
  EXPECT_FALSE(ui.has("stage.stroke.0"));
  press(Key::p, {.shift = true});
  EXPECT_TRUE(ui.has("stage.stroke.0")) << "the view has its own";
  press(Key::backspace);
  EXPECT_FALSE(ui.has("stage.stroke.0"));
  ui.chord(kCtrl, Key::z);
  EXPECT_TRUE(ui.has("stage.stroke.0"));
  const auto read = app::parseScene(app::formatScene(own()), "talk");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->talk->views[0].scene->look.strokes, kept) << "as a file has it";
}

TEST_F(TalkOnStage, FastNavigationShortensFades) {
  threeViews();
  ui.view().present = true;
  ui.draw();
  std::vector<render::Image> still;
  for (const Key key : {Key::home, Key::pageDown, Key::pageDown}) {
    press(key);
    still.push_back(ui.screenshot());
  }
  press(Key::home);
  ui.wait(3);
  ui.view().preferences.reducedMotion = false;
  for (std::size_t at = 1; at < still.size(); ++at) {
    ui.wait(0.1).key(Key::pageDown);
    ui.app().finish();
    ui.wait(0.2);
    if (at == 1) continue;  // the first change fades at its usual speed
    EXPECT_EQ(pixelsApart(still[at], ui.app().image(), std::nullopt, 8), 0);
  }
}

TEST_F(TalkOnStage, ViewsFadeUnlessMotionIsReduced) {
  threeViews();
  ui.view().present = true;
  ui.park().wait(5);
  const render::Image first = ui.screenshot();
  ui.view().preferences.reducedMotion = false;
  ui.key(Key::pageDown);
  ui.app().finish();
  const render::Image held = ui.app().image();
  EXPECT_LT(pixelsApart(first, held, std::nullopt, 8), first.width * first.height / 50)
      << "the view before stays until the next is computed";
  for (int i = 0; i < 12; ++i) {
    ui.frames(1);
    EXPECT_EQ(ui.session().nextFrameIn(), 0) << "a fade goes on without input";
  }
  ui.wait(2).draw();
  const render::Image second = ui.screenshot();
  EXPECT_GT(pixelsApart(first, second, std::nullopt, 8), first.width * first.height / 20);
  ui.view().preferences.reducedMotion = true;
  ui.key(Key::pageUp);
  EXPECT_EQ(pixelsApart(first, ui.screenshot()), 0) << "cut";
}

}  // namespace
}  // namespace headscope::test
