// Lessons: a lesson's steps with the page on their stage, predictions, and the way back to the
// user's own scene.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/pages/lessons/lesson_list.h"
#include "app/platform/ui_state.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;

TEST_F(Lessons, PageUpRetracesPageDownThroughLesson) {
  open("sinks");
  const auto here = [&] { return std::tuple(at().step, at().answered, page().here.ended); };
  std::vector<std::tuple<app::Index, bool, bool>> way;
  while (page().here.lesson && way.size() < 100) {
    way.push_back(here());
    next();
  }
  EXPECT_FALSE(page().here.lesson) << "behind the last step is the list";
  ASSERT_GT(way.size(), 8u);
  open("sinks", std::get<0>(way.back()));
  while (!page().here.ended) next();
  for (std::size_t i = way.size(); i-- > 0;) {
    EXPECT_EQ(here(), way[i]) << i;
    back();
  }
  EXPECT_EQ(at().step, 0);
}

TEST_F(Lessons, AnswerChangesStageAndIsRecorded) {
  open("sinks", 1);
  while (!page().asking()) next();
  const app::Index truth = right(), wrong = truth == 0 ? 1 : 0;
  const std::string before = ui.textOf(page().stage.document->scene());
  ui.click("lesson.option." + app::lessons_page::optionLetter(static_cast<std::size_t>(wrong)));
  EXPECT_TRUE(page().here.answered);
  EXPECT_EQ(page().here.guess, wrong);
  EXPECT_NE(ui.textOf(page().stage.document->scene()), before) << "the answer changes what is on the stage";
  const auto& guesses = page().record.progress.lessons.at("sinks").guesses;
  ASSERT_EQ(guesses.size(), 1u);
  EXPECT_FALSE(guesses.begin()->second.right);
}

TEST_F(Lessons, HidesMistakeUntilQuestionIsAnswered) {
  open("mistakes", 1);
  while (!page().asking()) next();
  const auto shown = [&] { return page().stage.document->scene().cursor.lab.mistake; };
  EXPECT_NE(shown(), attention::Mistake::upperTriangle) << "the picture gives the answer away";
  next();
  EXPECT_EQ(shown(), attention::Mistake::upperTriangle);
}

TEST_F(Lessons, WronglyAnsweredQuestionsCanBeRepeated) {
  std::vector<std::pair<std::string, app::Index>> wrong;
  for (const char* id : {"sinks", "padding"}) {
    open(id, 1);
    while (!page().asking()) next();
    const app::Index guess = right() == 0 ? 1 : 0;
    wrong.emplace_back(id, at().step);
    ui.click("lesson.option." + app::lessons_page::optionLetter(static_cast<std::size_t>(guess)));
  }
  ui.click("lesson.list");
  // Padding comes first in the list's order.
  for (const std::size_t line : {std::size_t{1}, std::size_t{0}}) {
    ui.click("lesson.wrong").frames(2);
    ASSERT_EQ(ui.dialog(), "lesson.wrong");
    ui.click("lesson.again." + std::to_string(line));
    EXPECT_EQ(ui.dialog(), "");
    EXPECT_EQ(at().lesson, wrong[1 - line].first);
    EXPECT_EQ(at().step, wrong[1 - line].second);
    EXPECT_TRUE(page().asking()) << "it asks once more";
    if (line == 0) break;
    ui.key(Key::escape);
  }
  ui.click("lesson.option." + app::lessons_page::optionLetter(static_cast<std::size_t>(right())));
  ui.click("lesson.list").click("lesson.wrong");
  EXPECT_EQ(at().lesson, "sinks") << "the only one that is left opens at once";
}

/// Shows the row's softmax worked out by hand, before the change and after it.
TEST_F(Lessons, ShowsSoftmaxArithmeticBesidePicture) {
  open("sinks", 3);
  ASSERT_TRUE(page().asking());
  EXPECT_TRUE(ui.has("lesson.shared.before"));
  EXPECT_FALSE(ui.has("lesson.shared.now")) << "that would give the answer away";
  next();
  ui.park().frames(3);
  EXPECT_TRUE(ui.has("lesson.shared.now"));
  app::uiState().watches = true;
  ui.screenshot();
  std::string texts;
  for (const app::DrawnText& text : app::uiState().texts) texts += text.text + "\n";
  EXPECT_THAT(texts, HasSubstr("1,024 ÷ 1,035 = 0.989"));
  EXPECT_THAT(texts, HasSubstr("was 0.250"));
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
}

TEST_F(Lessons, LettersSelectAnswers) {
  open("sinks", 1);
  while (!page().asking()) next();
  ui.key(static_cast<Key>('A'));
  EXPECT_EQ(page().here.guess, 0);
  EXPECT_TRUE(page().here.answered);
}

TEST_F(Lessons, ShortcutListShowsLessonKeysFirst) {
  open("sinks", 3);
  ui.key(app::Key::f1, {.shift = true});
  ASSERT_TRUE(ui.has("shortcut.lesson.next"));
  EXPECT_FALSE(ui.has("shortcut.look.next_head")) << "Page Down goes on in the lesson";
  EXPECT_LT(ui.find("shortcut.lesson.next").Max.y, ui.find("shortcut.scene.open").Min.y);
}

TEST_F(Lessons, PresentedAnswerWaitsForNextKey) {
  open("sinks", 1);
  while (!page().asking()) next();
  ui.key(Key::p).key(static_cast<Key>('B'));
  EXPECT_EQ(page().here.guess, 1);
  EXPECT_TRUE(page().asking()) << "the answer comes with the clicker";
  next();
  EXPECT_TRUE(page().here.answered);
  EXPECT_EQ(page().here.guess, 1);
}

TEST_F(Lessons, StepsMatchForwardsAndBackwards) {
  for (const app::LessonEntry& entry : page().list.library->lessons) {
    SCOPED_TRACE(entry.lesson->id);
    const auto last = static_cast<app::Index>(entry.lesson->steps.size()) - 1;
    std::vector<std::string> forwards;
    for (app::Index step = 0; step <= last; ++step) {
      open(entry.lesson->id, step);
      if (page().asking()) next();
      ASSERT_EQ(at().step, step);
      EXPECT_THAT(page().here.problem, IsEmpty());
      ASSERT_TRUE(page().here.study);
      EXPECT_THAT(page().here.study->failedClaims, IsEmpty());
      EXPECT_FALSE(ui.session().error()) << *ui.session().error();
      forwards.push_back(ui.sceneText());
    }
    for (app::Index step = last; step > 0; --step) {
      while (at().step == step) back();
      EXPECT_EQ(ui.sceneText(), forwards[static_cast<std::size_t>(step) - 1]) << step - 1;
    }
  }
}

TEST_F(SmallLessons, FitInBothThemes) {
  for (const bool light : {false, true})
    for (const app::LessonEntry& entry : page().list.library->lessons) {
      ui.view().preferences.light = light;
      const auto& steps = entry.lesson->steps;
      const auto asking = std::find_if(steps.begin(), steps.end(),
                                       [](const auto& step) { return step.question.has_value(); });
      open(entry.lesson->id, asking - steps.begin());
      if (page().asking()) {
        ui.key(static_cast<Key>('A'));
      }
      ui.park().wait(0.3);
      EXPECT_THAT(flaws(ui), IsEmpty()) << entry.lesson->id << (light ? ", light" : ", dark");
    }
}

TEST_F(SmallLessons, TitlesStayWhileTextScrolls) {
  open("sinks", 3);
  ui.key(static_cast<Key>('A')).park();
  app::uiState().watches = true;
  ui.screenshot();
  std::string seen;
  for (const app::DrawnText& text : app::uiState().texts)
    if (text.clip.Contains(text.area)) seen += text.text + "\n";
  EXPECT_THAT(seen, HasSubstr("A\nis\nwrong.\n")) << "it has scrolled to the answer";
  EXPECT_THAT(seen, HasSubstr(page().here.lesson->title + "\n"));
  EXPECT_THAT(seen, HasSubstr("Take\nthe\nfirst\ntoken\naway\n"));
}

TEST_F(SmallLessons, PresentingCollapsesTextIntoCaption) {
  open("sinks", 1);
  ui.key(Key::p).park();
  EXPECT_FALSE(ui.has("lesson.list"));
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

constexpr const char* kSmall = R"({"format": "headscope lesson", "version": 1, "id": "mine", "title": "Mine",
 "minutes": 1, "steps": [{"id": "one", "title": "One", "text": "A weight of {W[0][7][6]:.2}."}]})";

TEST_F(Lessons, DroppedLessonOpensAndReloadsWhenSaved) {
  TemporaryFolder folder;
  const auto path = folder.path() / "mine.json";
  std::ofstream(path) << kSmall;
  ui.drop({path.string()});
  ASSERT_TRUE(page().here.lesson);
  EXPECT_EQ(page().here.lesson->id, "mine");
  EXPECT_THAT(page().here.study->text, HasSubstr("0.94"));
  int writes = 0;
  const auto write = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto later = std::chrono::seconds(5 * ++writes);
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + later);
    ui.wait(1.5).draw().wait(0.2);
  };
  std::string changed = kSmall;
  changed.replace(changed.find("A weight"), 8, "The weight");
  write(changed);
  EXPECT_THAT(page().here.study->text, HasSubstr("The weight"));
  write("{");
  ASSERT_TRUE(page().here.lesson) << "what was open stays while its file is broken";
  EXPECT_THAT(ui.view().messages.error, HasSubstr("mine.json"));
  write(kSmall);
  ASSERT_TRUE(page().here.study);
  EXPECT_THAT(page().here.study->text, HasSubstr("A weight"));
  EXPECT_EQ(ui.view().messages.error, "") << "the error goes with its cause";
}

TEST_F(Lessons, ReportsBrokenLessonAndKeepsOthers) {
  TemporaryFolder folder;
  const auto path = folder.path() / "broken.json";
  std::string broken = kSmall;
  broken.replace(broken.find("W[0]"), 4, "Q[99");
  std::ofstream(path) << broken;
  ui.drop({path.string()});
  EXPECT_FALSE(page().here.lesson);
  EXPECT_THAT(ui.view().messages.error, HasSubstr("broken.json"));
  EXPECT_EQ(page().list.library->lessons.size(), 14u);
}

TEST_F(Lessons, FirstStartOffersFirstLessonOnce) {
  TemporaryFolder folder;
  ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
  ui.key(static_cast<Key>('1'));
  ui.view().showTimings = true;
  ui.view().preferences.lessonOffered = false;
  ui.draw();
  ASSERT_TRUE(ui.has("offer.start"));
  EXPECT_TRUE(ui.has("head.0")) << "below the living opening scene";
  EXPECT_THAT(overlaps(ui), IsEmpty());
  ui.click("offer.start");
  ASSERT_TRUE(page().here.lesson);
  EXPECT_EQ(page().here.lesson->number, 1);
  EXPECT_EQ(at().step, 0);
  ui.key(static_cast<Key>('1'));
  EXPECT_FALSE(ui.has("offer.start"));
  EXPECT_TRUE(ui.view().preferences.lessonOffered);
  ::unsetenv("XDG_STATE_HOME");
}

TEST_F(Lessons, ProgressOfAnotherWindowIsKept) {
  TemporaryFolder folder;
  ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
  ui.view().showTimings = true;
  open("sinks", 1);
  const auto path = app::progressPath(folder.path() / "headscope");
  app::Progress theirs = app::readProgress(path.parent_path());
  theirs.lessons["why_scale"].seen = {"one", "two"};
  theirs.lessons["why_scale"].guesses["two"] = {1, true};
  theirs.lessons["sinks"].seen.insert("seen elsewhere");
  putFile(path, app::formatProgress(theirs));
  while (!page().asking()) next();
  ui.key(static_cast<Key>('A'));
  const app::Progress kept = app::readProgress(path.parent_path());
  EXPECT_EQ(kept.lessons.at("why_scale"), theirs.lessons["why_scale"]);
  EXPECT_TRUE(kept.lessons.at("sinks").seen.contains("seen elsewhere"));
  EXPECT_EQ(kept.lessons.at("sinks").guesses, page().record.progress.lessons.at("sinks").guesses);
  EXPECT_EQ(kept.lessons.at("sinks").guesses.size(), 1u);
  ::unsetenv("XDG_STATE_HOME");
}

TEST_F(Lessons, ProgressIsSavedAndCanBeForgotten) {
  TemporaryFolder folder;
  ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
  ui.view().showTimings = true;
  open("sinks", 1);
  while (!page().asking()) next();
  ui.key(static_cast<Key>('A'));
  const app::Progress kept = app::readProgress(folder.path() / "headscope");
  EXPECT_EQ(kept, page().record.progress);
  EXPECT_EQ(kept.last, "sinks");
  EXPECT_EQ(kept.lessons.at("sinks").guesses.size(), 1u);
  ui.session().actions().find("lesson.list").run(ui.session().scene());
  ui.draw();
  const app::Progress inList = page().record.progress;
  ui.click("lesson.forget");
  EXPECT_EQ(app::readProgress(folder.path() / "headscope"), app::Progress{});
  EXPECT_FALSE(ui.has("lesson.forget"));
  ui.click("lesson.remember");
  EXPECT_EQ(app::readProgress(folder.path() / "headscope"), inList);
  EXPECT_EQ(page().record.progress, inList);
  EXPECT_TRUE(ui.has("lesson.forget"));
  ::unsetenv("XDG_STATE_HOME");
}

}  // namespace
}  // namespace headscope::test
