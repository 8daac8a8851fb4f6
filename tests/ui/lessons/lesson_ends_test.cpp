// What a lesson's steps show besides a page: their own pictures, comparisons on stage, and the end.

#include <gtest/gtest.h>

#include "app/platform/ui_state.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;

/// Everything drawn, as words with a space after each.
std::string drawnWords() {
  std::string words;
  for (const app::DrawnText& text : app::uiState().texts) words += text.text + " ";
  return words;
}

TEST_F(SmallLessons, EndSaysWhatWasLearnedAndWhatFollows) {
  app::uiState().watches = true;
  open("scaled_attention", 8);
  next();
  ASSERT_TRUE(page().here.answered);
  EXPECT_THAT(drawnWords(), Not(HasSubstr("softmax turns a row of scores into weights.")));
  next();
  ui.park().frames(2);
  EXPECT_THAT(drawnWords(), HasSubstr("What you learned "));
  EXPECT_THAT(drawnWords(), HasSubstr("softmax turns a row of scores into weights."));
  EXPECT_THAT(flaws(ui), IsEmpty());
  back();
  EXPECT_FALSE(page().here.ended) << "back at the answer";
  EXPECT_TRUE(page().here.answered);
  next();
  ui.click("lesson.follow");
  ASSERT_TRUE(page().here.lesson);
  EXPECT_EQ(page().here.lesson->id, "why_scale");
  EXPECT_EQ(page().here.step, 0);
}

TEST_F(SmallLessons, EndFitsOnStageAndLeadsToTheList) {
  ui.view().present = true;
  for (const app::LessonEntry& entry : page().list.library->lessons) {
    SCOPED_TRACE(entry.lesson->id);
    open(entry.lesson->id, static_cast<app::Index>(entry.lesson->steps.size()) - 1);
    for (int i = 0; i < 3 && !page().here.ended; ++i) next();
    ASSERT_TRUE(page().here.ended);
    ui.park().frames(3);
    EXPECT_THAT(overlaps(ui), IsEmpty());
    EXPECT_THAT(cutOff(ui, Scrolling::doesnt), IsEmpty());
    next();
    EXPECT_FALSE(page().here.lesson);
  }
}

/// The last step has no question whose state would tell it from the end.
TEST_F(Lessons, LastStepCanBeReachedFromTheEnd) {
  for (const bool byKey : {true, false}) {
    open("sinks", 8);
    next();
    ASSERT_TRUE(page().here.ended);
    byKey ? ui.key(Key::end) : ui.click("lesson.step.8");
    ui.frames(2);
    EXPECT_FALSE(page().here.ended);
    EXPECT_EQ(page().here.step, 8);
    EXPECT_TRUE(page().here.lesson);
  }
}

TEST_F(Lessons, KeyOfLearnReturnsFromALessonToTheList) {
  open("sinks", 2);
  ui.key(static_cast<Key>('1'));
  EXPECT_EQ(own().cursor.page, "heads");
  ui.key(static_cast<Key>('9'));
  ASSERT_TRUE(page().here.lesson) << "from another page, the lesson is still open";
  EXPECT_EQ(page().here.step, 2);
  ui.key(static_cast<Key>('9')).frames(2);
  EXPECT_FALSE(page().here.lesson);
  EXPECT_TRUE(ui.has("lesson.card.sinks"));
  open("sinks", 1);
  EXPECT_TRUE(page().here.lesson) << "what leads to a lesson still does";
  ui.request("lesson.begin");
  ASSERT_TRUE(page().here.lesson) << "opening a lesson is not that key";
  EXPECT_EQ(page().here.lesson->id, "scaled_attention");
}

TEST_F(SmallLessons, OwnPicturesStandInPlaceOfThePage) {
  app::uiState().watches = true;
  for (const bool present : {false, true}) {
    ui.view().present = present;
    open("from_words_to_numbers");
    ui.park().frames(3);
    EXPECT_TRUE(ui.has("lesson.picture"));
    EXPECT_FALSE(ui.has("head.0")) << "no heatmaps";
    EXPECT_TRUE(ui.says("463")) << "the example's id";
    EXPECT_FALSE(ui.says("416")) << "the question is about this id";
    while (page().asking()) next();
    EXPECT_TRUE(ui.says("416"));
    for (int step = 1; step < 3; ++step) {
      next();
      EXPECT_TRUE(ui.has("lesson.picture"));
      EXPECT_THAT(overlaps(ui), IsEmpty());
      EXPECT_THAT(cutOff(ui), IsEmpty());
    }
    next();
    EXPECT_FALSE(ui.has("lesson.picture"));
    EXPECT_TRUE(ui.has("head.0"));
  }
}

TEST_F(SmallLessons, StageComparesTheRowBeforeAndNow) {
  ui.view().present = true;
  open("why_scale", 3);
  ui.park().frames(3);
  EXPECT_TRUE(ui.has("lesson.shared.before"));
  EXPECT_FALSE(ui.has("lesson.shared.now")) << "that is the question";
  while (page().asking()) next();
  EXPECT_TRUE(ui.has("lesson.shared.before"));
  EXPECT_TRUE(ui.has("lesson.shared.now"));
  EXPECT_THAT(overlaps(ui), IsEmpty());
}

/// The hall looks at the picture: it stays where it is while the words beside it change.
TEST_F(SmallLessons, PictureStaysInPlaceThroughAQuestion) {
  ui.view().present = true;
  for (const app::LessonEntry& entry : page().list.library->lessons)
    for (app::Index step = 0; step < std::ssize(entry.lesson->steps); ++step) {
      const app::LessonStep& of = entry.lesson->steps[static_cast<std::size_t>(step)];
      if (!of.question || of.scene.cursor.page != "heads") continue;
      SCOPED_TRACE(of.id);
      open(entry.lesson->id, step);
      ui.park().frames(3);
      const float before = ui.find("lesson.caption").Min.x;
      while (page().asking()) next();
      ui.frames(2);
      EXPECT_EQ(ui.find("lesson.caption").Min.x, before);
    }
}

TEST_F(Lessons, WrongAnswersSayItInWordsAndShape) {
  app::uiState().watches = true;
  open("sinks", 1);
  while (!page().asking()) next();
  const app::Index truth = right(), wrong = truth == 0 ? 1 : 0;
  ui.click("lesson.option." + app::lessons_page::optionLetter(static_cast<std::size_t>(wrong)));
  EXPECT_TRUE(ui.says("✗ your answer"));
  EXPECT_TRUE(ui.says("✓ right"));
  EXPECT_THAT(drawnWords(),
              HasSubstr(app::lessons_page::optionLetter(static_cast<std::size_t>(wrong)) + " is wrong. "));
}

}  // namespace
}  // namespace headscope::test
