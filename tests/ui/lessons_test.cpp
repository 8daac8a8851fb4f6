// Lessons: the list, a lesson's steps with the page on their stage, predictions, and the way back to one's
// own.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/labs/lessons/lessons_lab.h"
#include "app/platform/ui_state.h"
#include "tests/support/compare_image.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using app::Key;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Lessons : public testing::Test {
 protected:
  explicit Lessons(int width = 1920, int height = 1080) : ui(width, height) {
    ui.key(static_cast<Key>('8'));
    ui.draw();
  }

  const app::LessonsPage& page() { return ui.session().lab<app::LessonsLab>().page(); }
  const app::Scene& own() { return ui.session().document().scene(); }
  const app::LessonCursor& at() { return own().cursor.lesson; }

  void open(const std::string& id, app::Index step = 0) {
    app::Scene scene = own();
    scene.cursor.page = "lessons";
    scene.cursor.lesson = {id, step, -1, false};
    ui.session().setScene(scene);
    ui.draw();
    ASSERT_TRUE(page().lesson) << id;
  }
  void next() {
    ui.key(Key::pageDown);
    ui.draw();
  }
  void back() {
    ui.key(Key::pageUp);
    ui.draw();
  }
  app::Index right() {
    const auto& options = page().study->options;
    const auto found =
        std::find_if(options.begin(), options.end(), [](const auto& option) { return option.holds; });
    return found - options.begin();
  }

  UiDriver ui;
};

class SmallLessons : public Lessons {
 protected:
  SmallLessons() : Lessons(1280, 720) {}
};

TEST_F(Lessons, TheListShowsAllTwelveWithComputedPictures) {
  ASSERT_TRUE(page().library);
  EXPECT_THAT(page().library->problems, IsEmpty());
  ASSERT_EQ(page().library->lessons.size(), 12u);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(page().library->lessons[i].lesson->number, static_cast<int>(i) + 1);
    ASSERT_TRUE(page().covers[i]) << i;
    EXPECT_GT(page().covers[i]->size(), 0) << i;
  }
  ui.park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lessons_list"));
}

TEST_F(Lessons, ACardOpensItsLessonAndEscapeGoesBack) {
  ui.click("lesson.card.sinks");
  ui.draw();
  ASSERT_TRUE(page().lesson);
  EXPECT_EQ(page().lesson->id, "sinks");
  ui.key(Key::escape);
  ui.draw();
  EXPECT_FALSE(page().lesson);
}

TEST_F(Lessons, TheSearchNarrowsTheList) {
  ui.click("lesson.search_box");
  ui.type("cache");
  ui.draw();
  EXPECT_TRUE(ui.has("lesson.card.kv_cache"));
  EXPECT_FALSE(ui.has("lesson.card.scaled_attention"));
}

TEST_F(Lessons, PageDownAsksAnswersAndGoesOnAndPageUpUndoesExactlyThat) {
  open("sinks");
  std::vector<std::pair<app::Index, bool>> way;
  while (page().lesson && way.size() < 100) {
    way.emplace_back(at().step, at().answered);
    next();
  }
  EXPECT_FALSE(page().lesson) << "behind the last step is the list";
  ASSERT_GT(way.size(), 8u);
  open("sinks", way.back().first);
  if (way.back().second) next();
  for (std::size_t i = way.size(); i-- > 0;) {
    EXPECT_EQ(std::pair(at().step, at().answered), way[i]) << i;
    back();
  }
  EXPECT_EQ(at().step, 0);
}

TEST_F(Lessons, AGuessShowsTheComputedAnswerBesideIt) {
  open("sinks", 1);
  while (!page().asking()) next();
  const app::Index truth = right(), wrong = truth == 0 ? 1 : 0;
  const std::string before = ui.textOf(page().stage->scene());
  ui.click("lesson.option." + app::optionLetter(static_cast<std::size_t>(wrong)));
  ui.draw();
  EXPECT_TRUE(page().answered);
  EXPECT_EQ(page().guess, wrong);
  EXPECT_NE(ui.textOf(page().stage->scene()), before) << "the answer changes what is on the stage";
  const auto& guesses = page().progress.lessons.at("sinks").guesses;
  ASSERT_EQ(guesses.size(), 1u);
  EXPECT_FALSE(guesses.begin()->second.right);
}

TEST_F(Lessons, EveryQuestionThatWasGuessedWrongCanBeAskedAgain) {
  std::vector<std::pair<std::string, app::Index>> wrong;
  for (const char* id : {"sinks", "padding"}) {
    open(id, 1);
    while (!page().asking()) next();
    const app::Index guess = right() == 0 ? 1 : 0;
    wrong.emplace_back(id, at().step);
    ui.click("lesson.option." + app::optionLetter(static_cast<std::size_t>(guess)));
    ui.draw();
  }
  ui.click("lesson.list");
  ui.draw();
  // In the list's order padding comes first.
  for (const std::size_t line : {std::size_t{1}, std::size_t{0}}) {
    ui.click("lesson.wrong");
    ui.frames(2);
    ASSERT_EQ(ui.dialog(), "lesson.wrong");
    ui.click("lesson.again." + std::to_string(line));
    ui.draw();
    EXPECT_EQ(ui.dialog(), "");
    EXPECT_EQ(at().lesson, wrong[1 - line].first);
    EXPECT_EQ(at().step, wrong[1 - line].second);
    EXPECT_TRUE(page().asking()) << "it asks once more";
    if (line == 0) break;
    ui.key(Key::escape);
    ui.draw();
  }
  ui.click("lesson.option." + app::optionLetter(static_cast<std::size_t>(right())));
  ui.draw();
  ui.click("lesson.list");
  ui.draw();
  ui.click("lesson.wrong");
  ui.draw();
  EXPECT_EQ(at().lesson, "sinks") << "the only one that is left opens at once";
}

/// Softmax by hand of the row before and now.
TEST_F(Lessons, OneWholeIsSharedOutBesideThePicture) {
  open("sinks", 3);
  ASSERT_TRUE(page().asking());
  EXPECT_TRUE(ui.has("lesson.shared.before"));
  EXPECT_FALSE(ui.has("lesson.shared.now")) << "that would give the answer away";
  next();
  ui.park();
  ui.frames(3);
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

TEST_F(Lessons, LettersChooseAndMeanWhatTheyMeanElsewhereAfterwards) {
  open("sinks", 1);
  while (!page().asking()) next();
  ui.key(static_cast<Key>('A'));
  ui.draw();
  EXPECT_EQ(page().guess, 0);
  EXPECT_TRUE(page().answered);
}

TEST_F(Lessons, InAHallHandsAreCountedFirst) {
  open("sinks", 1);
  while (!page().asking()) next();
  ui.key(Key::p);
  ui.key(static_cast<Key>('B'));
  ui.draw();
  EXPECT_EQ(page().guess, 1);
  EXPECT_TRUE(page().asking()) << "the answer comes with the clicker";
  next();
  EXPECT_TRUE(page().answered);
  EXPECT_EQ(page().guess, 1);
}

TEST_F(Lessons, OnesOwnSceneWaitsUntouched) {
  ui.key(static_cast<Key>('1'));
  ui.replaceText("text", "my own words");
  ui.clickAway();
  ui.draw();
  const app::Setup mine = own().setup;
  ui.key(static_cast<Key>('8'));
  open("sinks");
  next();
  EXPECT_NE(ui.scene().setup, mine) << "the lesson's is on the stage";
  EXPECT_EQ(own().setup, mine);
  ui.key(static_cast<Key>('1'));
  ui.draw();
  EXPECT_EQ(ui.scene().setup, mine);
  EXPECT_EQ(ui.sequence().queries.size(), 3u);
  ui.key(static_cast<Key>('8'));
  ui.draw();
  ASSERT_TRUE(page().lesson) << "and the lesson goes on where it was";
  EXPECT_EQ(page().lesson->id, "sinks");
}

TEST_F(Lessons, WhatIsMovedComesBackWithEscape) {
  open("sinks");
  const std::string written = ui.sceneText();
  ui.session().scene().setup.model.sharpness = 0.5f;
  ui.draw();
  EXPECT_TRUE(page().changed);
  EXPECT_TRUE(ui.has("lesson.restore"));
  ui.key(Key::escape);
  ui.draw();
  EXPECT_FALSE(page().changed);
  EXPECT_EQ(ui.sceneText(), written);
}

TEST_F(Lessons, TheSceneCanBeTakenAlongAndUndoGivesOnesOwnBack) {
  const app::Setup mine = own().setup;
  open("why_scale");
  const app::Setup lessons = ui.scene().setup;
  ASSERT_NE(lessons, mine);
  ui.key(Key::enter, {.shift = true});
  ui.draw();
  EXPECT_EQ(own().cursor.page, "heads");
  EXPECT_EQ(ui.scene().setup, lessons);
  ui.chord(kCtrl, Key::z);
  ui.draw();
  EXPECT_EQ(ui.scene().setup, mine);
}

TEST_F(Lessons, AnyStepOpensFirstAndEveryStepIsTheSameForwardsAndBackwards) {
  for (const app::LessonEntry& entry : page().library->lessons) {
    SCOPED_TRACE(entry.lesson->id);
    const auto last = static_cast<app::Index>(entry.lesson->steps.size()) - 1;
    std::vector<std::string> forwards;
    for (app::Index step = 0; step <= last; ++step) {
      open(entry.lesson->id, step);
      if (page().asking()) next();
      ASSERT_EQ(at().step, step);
      EXPECT_THAT(page().problem, IsEmpty());
      ASSERT_TRUE(page().study);
      EXPECT_THAT(page().study->failedClaims, IsEmpty());
      EXPECT_FALSE(ui.session().error()) << *ui.session().error();
      forwards.push_back(ui.sceneText());
    }
    for (app::Index step = last; step > 0; --step) {
      while (at().step == step) back();
      EXPECT_EQ(ui.sceneText(), forwards[static_cast<std::size_t>(step) - 1]) << step - 1;
    }
  }
}

/// Every step at the sizes that are promised: nothing lies over anything, and what the words point at is
/// there.
class LessonSteps : public Lessons, public testing::WithParamInterface<std::pair<int, int>> {
 protected:
  LessonSteps() : Lessons(GetParam().first, GetParam().second) {}

  /// What the step's row is of.
  std::string word(const app::Snapshot& snapshot) {
    const auto& queries = app::shownSequence(ui.scene(), &snapshot)->queries;
    const auto at = static_cast<std::size_t>(std::max<app::Index>(page().at().look.query, 0));
    return at < queries.size() ? queries[at].text : "";
  }
  void looks(const std::string& where) {
    SCOPED_TRACE(where);
    ui.park();
    ui.frames(3);
    EXPECT_THAT(overlaps(ui), IsEmpty());
    EXPECT_THAT(cutOff(ui), IsEmpty());
    const auto rect = app::lookRect(page());
    const app::LessonLook& look = page().at().look;
    if (look.mark <= 0) return;
    // Before the answer another text may stand there.
    if (page().asking() && look.control.empty() && word(ui.snapshot()) != word(*page().study->snapshot)) {
      EXPECT_FALSE(rect);
      return;
    }
    ASSERT_TRUE(rect) << "what is looked at is not on screen: " << page().at().look.control;
    const ImRect screen(0, 0, static_cast<float>(GetParam().first), static_cast<float>(GetParam().second));
    EXPECT_TRUE(screen.Contains(*rect)) << "it lies beyond the window";
    ASSERT_TRUE(ui.has("lesson.mark"));
    const ImRect column = ui.find("lesson.next");
    EXPECT_GE(rect->Max.x, column.Max.x) << "the column covers it";
  }
};

TEST_P(LessonSteps, ShowWhatTheyPointAt) {
  for (const app::LessonEntry& entry : page().library->lessons)
    for (app::Index step = 0; step < static_cast<app::Index>(entry.lesson->steps.size()); ++step) {
      open(entry.lesson->id, step);
      const std::string name = fmt::format("{}, step {}", entry.lesson->id, step);
      looks(name);
      if (!page().asking()) continue;
      next();
      looks(name + ", answered");
    }
}

/// In a hall nothing scrolls: what there is to read is on screen.
TEST_P(LessonSteps, ArePresentedWhole) {
  for (const app::LessonEntry& entry : page().library->lessons)
    for (app::Index step = 0; step < static_cast<app::Index>(entry.lesson->steps.size()); ++step) {
      ui.view().present = true;
      open(entry.lesson->id, step);
      for (const bool answered : {false, true}) {
        if (answered && !page().asking()) break;
        if (answered) next();
        SCOPED_TRACE(fmt::format("{}, step {}{}", entry.lesson->id, step, answered ? ", answered" : ""));
        ui.park();
        ui.frames(3);
        // What the pages themselves do with little room is looked at in their own tests.
        EXPECT_THAT(overlaps(ui), testing::Each(testing::Not(HasSubstr("lesson."))));
        EXPECT_THAT(cutOff(ui), testing::Each(testing::Not(HasSubstr("lesson."))));
        const ImRect caption = ui.find("lesson.caption"), words = ui.find("lesson.caption.words");
        EXPECT_LE(words.Max.y, caption.Max.y + 1) << "the words go on below";
        const auto rect = app::lookRect(page());
        const bool shown = page().at().look.control.empty() && !page().asking();  // tools fold away in a hall
        if (page().at().look.mark > 0) {
          EXPECT_TRUE(rect || !shown) << "what is looked at is not on screen";
          EXPECT_FALSE(rect && rect->Overlaps(caption)) << "the caption covers it";
        }
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LessonSteps, testing::Values(std::pair(1280, 720), std::pair(1920, 1080)),
                         [](const auto& info) {
                           return fmt::format("at{}x{}", info.param.first, info.param.second);
                         });

/// One step of each lesson as it was looked at.
TEST_F(SmallLessons, LookAsTheyDid) {
  for (const bool light : {false, true})
    for (const app::LessonEntry& entry : page().library->lessons) {
      ui.view().preferences.light = light;
      const auto& steps = entry.lesson->steps;
      const auto asking = std::find_if(steps.begin(), steps.end(),
                                       [](const auto& step) { return step.question.has_value(); });
      open(entry.lesson->id, asking - steps.begin());
      if (page().asking()) {
        ui.key(static_cast<Key>('A'));
        ui.draw();
      }
      ui.park();
      ui.wait(0.3);
      EXPECT_TRUE(imagesMatch(ui.screenshot(),
                              fmt::format("lesson_{}_{}", entry.lesson->number, light ? "light" : "dark")));
    }
}

TEST_F(SmallLessons, PresentingFoldsTheTextToACaption) {
  open("sinks", 1);
  ui.key(Key::p);
  ui.draw();
  ui.park();
  EXPECT_FALSE(ui.has("lesson.list"));
  EXPECT_TRUE(imagesMatch(ui.screenshot(), "lesson_presented"));
}

constexpr const char* kSmall = R"({"format": "headscope lesson", "version": 1, "id": "mine", "title": "Mine",
 "minutes": 1, "steps": [{"id": "one", "title": "One", "text": "A weight of {W[0][7][6]:.2}."}]})";

TEST_F(Lessons, OnesOwnOpensWhenItIsDroppedAndIsReadAgainWhenItWasSaved) {
  TemporaryFolder folder;
  const auto path = folder.path() / "mine.json";
  std::ofstream(path) << kSmall;
  ui.drop({path.string()});
  ui.draw();
  ASSERT_TRUE(page().lesson);
  EXPECT_EQ(page().lesson->id, "mine");
  EXPECT_THAT(page().study->text, HasSubstr("0.94"));
  int writes = 0;
  const auto write = [&](const std::string& text) {
    std::ofstream(path) << text;
    const auto later = std::chrono::seconds(5 * ++writes);
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() + later);
    ui.wait(1.5);
    ui.draw();
    ui.wait(0.2);
  };
  std::string changed = kSmall;
  changed.replace(changed.find("A weight"), 8, "The weight");
  write(changed);
  EXPECT_THAT(page().study->text, HasSubstr("The weight"));
  write("{");
  ASSERT_TRUE(page().lesson) << "what was open stays while its file is broken";
  EXPECT_THAT(ui.view().messages.error, HasSubstr("mine.json"));
  write(kSmall);
  ASSERT_TRUE(page().study);
  EXPECT_THAT(page().study->text, HasSubstr("A weight"));
}

TEST_F(Lessons, ABrokenOneIsNamedAndTheRestStay) {
  TemporaryFolder folder;
  const auto path = folder.path() / "broken.json";
  std::string broken = kSmall;
  broken.replace(broken.find("W[0]"), 4, "Q[99");
  std::ofstream(path) << broken;
  ui.drop({path.string()});
  ui.draw();
  EXPECT_FALSE(page().lesson);
  EXPECT_THAT(ui.view().messages.error, HasSubstr("broken.json"));
  EXPECT_EQ(page().library->lessons.size(), 12u);
}

TEST_F(Lessons, TheFirstStartOffersTheFirstLessonOnce) {
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
  ui.draw();
  ASSERT_TRUE(page().lesson);
  EXPECT_EQ(page().lesson->number, 1);
  EXPECT_EQ(at().step, 0);
  ui.key(static_cast<Key>('1'));
  ui.draw();
  EXPECT_FALSE(ui.has("offer.start"));
  EXPECT_TRUE(ui.view().preferences.lessonOffered);
  ::unsetenv("XDG_STATE_HOME");
}

TEST_F(Lessons, ProgressIsRememberedAndForgottenWhenAsked) {
  TemporaryFolder folder;
  ::setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
  ui.view().showTimings = true;
  open("sinks", 1);
  while (!page().asking()) next();
  ui.key(static_cast<Key>('A'));
  ui.draw();
  const app::Progress kept = app::readProgress(folder.path() / "headscope");
  EXPECT_EQ(kept, page().progress);
  EXPECT_EQ(kept.last, "sinks");
  EXPECT_EQ(kept.lessons.at("sinks").guesses.size(), 1u);
  ui.session().actions().find("lesson.forget").run(ui.session().scene());
  ui.draw();
  EXPECT_EQ(app::readProgress(folder.path() / "headscope"), app::Progress{});
  ::unsetenv("XDG_STATE_HOME");
}

}  // namespace
}  // namespace headscope::test
