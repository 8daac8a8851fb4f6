// Changes made on a lesson's stage return with their step, are removed by Escape, come back by undo, and
// leave the user's own scene alone.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/platform/ui_state.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;

TEST_F(Lessons, OwnSceneStaysUnchanged) {
  ui.key(static_cast<Key>('1')).replaceText("text", "my own words").clickAway();
  const app::Setup mine = own().setup;
  ui.key(static_cast<Key>('9'));
  open("sinks");
  next();
  EXPECT_NE(ui.scene().setup, mine) << "the lesson's is on the stage";
  EXPECT_EQ(own().setup, mine);
  ui.key(static_cast<Key>('1'));
  EXPECT_EQ(ui.scene().setup, mine);
  EXPECT_EQ(ui.sequence().queries.size(), 3u);
  ui.key(static_cast<Key>('9'));
  ASSERT_TRUE(page().here.lesson) << "and the lesson goes on where it was";
  EXPECT_EQ(page().here.lesson->id, "sinks");
}

TEST_F(Lessons, EscapeRestoresLessonScene) {
  open("sinks");
  const std::string written = ui.sceneText();
  ui.session().scene().setup.model.sharpness = 0.5f;
  ui.draw();
  EXPECT_TRUE(page().stage.changed);
  EXPECT_TRUE(ui.has("lesson.restore"));
  ui.key(Key::escape);
  EXPECT_FALSE(page().stage.changed);
  EXPECT_EQ(ui.sceneText(), written);
}

TEST_F(Lessons, UndoRevertsEscape) {
  open("sinks");
  const std::string written = ui.sceneText();
  ui.session().scene().setup.model.sharpness = 0.5f;
  ui.draw().key(Key::escape);
  ASSERT_EQ(ui.sceneText(), written);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.model.sharpness, 0.5f);
  EXPECT_TRUE(page().stage.changed);
}

TEST_F(Lessons, RevisitedStepRestoresItsChanges) {
  open("sinks");
  const std::string written = ui.sceneText();
  const auto isAsMoved = [&] { return page().stage.changed && ui.scene().setup.model.sharpness == 0.5f; };
  ui.session().scene().setup.model.sharpness = 0.5f;
  ui.draw();
  next();
  EXPECT_FALSE(page().stage.changed) << "another step is as the lesson has it";
  EXPECT_THAT(ui.view().messages.notice, testing::HasSubstr("kept in step 1 of"));
  back();
  EXPECT_TRUE(isAsMoved());
  ui.request("lesson.list");
  ASSERT_FALSE(page().here.lesson);
  open("why_scale");
  open("sinks");
  EXPECT_TRUE(isAsMoved()) << "also after another lesson";
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.sceneText(), written) << "with its undo";
  ui.chord(kCtrlShift, Key::z);
  EXPECT_TRUE(isAsMoved());
}

TEST_F(Lessons, RevisitedQuestionRestoresItsChanges) {
  open("sinks");
  while (!page().asking()) next();
  ui.session().scene().setup.model.sharpness = 0.5f;
  ui.draw();
  next();
  EXPECT_FALSE(page().stage.changed) << "the answer is computed";
  back();
  EXPECT_TRUE(page().asking());
  EXPECT_EQ(ui.scene().setup.model.sharpness, 0.5f);
}

TEST_F(Lessons, UndoAfterAdoptingLessonRestoresOwnScene) {
  const app::Setup mine = own().setup;
  open("why_scale");
  const app::Setup lessons = ui.scene().setup;
  ASSERT_NE(lessons, mine);
  ui.key(Key::enter, {.shift = true});
  EXPECT_EQ(own().cursor.page, "heads");
  EXPECT_EQ(ui.scene().setup, lessons);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup, mine);
}

}  // namespace
}  // namespace headscope::test
