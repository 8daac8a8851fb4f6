#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "app/compute/jobs/memory_budget.h"
#include "app/compute/lessons/lesson_study.h"
#include "app/scene/text/rich_text.h"
#include "test_paths.h"
#include "tests/support/plain_text.h"

// Every bundled lesson: its claims are true, and its texts are short enough to be read.

namespace headscope::app {
namespace {

std::vector<std::filesystem::path> shippedFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(HEADSCOPE_SOURCE_DIR "/assets/lessons"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string nameOf(const testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.stem().string();
  std::erase_if(name, [](char letter) { return !std::isalnum(static_cast<unsigned char>(letter)); });
  return name;
}

/// The number of words a reader sees: without markup, and formulas as they are typeset.
std::size_t wordCount(const std::string& text) {
  const auto rich = parseRichText(text);
  if (!rich) {
    ADD_FAILURE() << rich.error().message << "\n" << text;
    return 0;
  }
  std::istringstream words(test::plainText(*rich));
  return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(words), {}));
}

class ShippedLesson : public testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    auto read = readLesson(GetParam());
    ASSERT_TRUE(read) << read.error().message;
    lesson = *read;
  }
  /// Calls `check` with each step and its study.
  void forSteps(const std::function<void(const LessonStep&, const StepStudy&)>& check) {
    Resources resources(defaultLimits());
    LessonRunner runner(*lesson, resources);
    for (std::size_t at = 0; at < lesson->steps.size(); ++at) {
      SCOPED_TRACE(lesson->steps[at].id);
      const auto study = runner.study(at);
      ASSERT_TRUE(study) << study.error().message;
      check(lesson->steps[at], **study);
    }
  }
  std::shared_ptr<const Lesson> lesson;
};

TEST_P(ShippedLesson, ClaimsHoldAndQuestionsHaveOneAnswer) {
  forSteps([](const LessonStep&, const StepStudy& study) {
    for (const std::string& claim : study.failedClaims) ADD_FAILURE() << claim;
  });
  Resources resources(defaultLimits());
  const auto cover = LessonRunner(*lesson, resources).cover();
  ASSERT_TRUE(cover) << cover.error().message;
}

TEST_P(ShippedLesson, TextsAreShort) {
  forSteps([](const LessonStep&, const StepStudy& study) {
    EXPECT_LE(wordCount(study.text), 95u);
    EXPECT_LE(wordCount(study.ask), 25u);
    for (const OptionStudy& option : study.options) {
      EXPECT_LE(wordCount(option.text), 12u) << option.text;
      EXPECT_LE(wordCount(option.why), 45u) << option.why;
      EXPECT_GE(wordCount(option.why), 1u) << option.text;
    }
  });
}

/// A step's text is still shown next to the result, once the question is answered.
TEST_P(ShippedLesson, TextsOfQuestionsDontAnnounceTheirResult) {
  forSteps([](const LessonStep& step, const StepStudy& study) {
    for (const char* announcement : {"Next,", "Next ", "next.", " next [", "next:", "Now "})
      EXPECT_TRUE(!step.question || study.text.find(announcement) == std::string::npos) << announcement;
  });
}

TEST_P(ShippedLesson, MarksStandInTheWords) {
  forSteps([](const LessonStep& step, const StepStudy& study) {
    std::string words = study.text;
    for (const OptionStudy& option : study.options) words += option.why;
    EXPECT_EQ(words.find("](mark)") != std::string::npos, step.look.mark > 0);
  });
}

/// A mark belongs to a control, a row, a column, a cell, or one head of several. Beside a whole picture it
/// would point at nothing.
TEST_P(ShippedLesson, MarksPointAtOneThing) {
  forSteps([](const LessonStep& step, const StepStudy&) {
    const LessonLook& look = step.look;
    if (look.mark <= 0) return;
    EXPECT_EQ(look.picture, LookPicture::none) << "its own picture has no marks";
    EXPECT_TRUE(look.at != LookAt::right || look.control.starts_with("model."))
        << "only a thumbnail is small";
    EXPECT_TRUE(!look.control.empty() || look.at != LookAt::page);
    EXPECT_TRUE(look.at != LookAt::head || step.scene.cursor.focus < 0)
        << "the enlarged head is all there is";
  });
}

/// A selected key is read, or the step is about its being hidden or unread.
TEST_P(ShippedLesson, SelectedKeysAreRead) {
  forSteps([](const LessonStep& step, const StepStudy& study) {
    const Cursor& cursor = step.scene.cursor;
    if (cursor.page != "heads" || !cursor.keyChosen || step.look.mark > 0 ||
        step.look.picture != LookPicture::none)
      return;
    const SequenceSnapshot& line = *shownSequence(step.scene, study.snapshot.get());
    EXPECT_GT(line.probabilities()[cursor.cell.head](cursor.cell.query, cursor.cell.key), 0.005f);
  });
}

TEST_P(ShippedLesson, SummaryFitsOnACard) {
  EXPECT_GE(lesson->summary.size(), 10u);
  EXPECT_LE(lesson->summary.size(), 44u) << lesson->summary;
}

TEST_P(ShippedLesson, EndSaysInTwoSentencesWhatWasLearned) {
  Resources resources(defaultLimits());
  LessonRunner runner(*lesson, resources);
  const auto study = runner.study(lesson->steps.size() - 1);
  ASSERT_TRUE(study) << study.error().message;
  EXPECT_GE(wordCount((*study)->learned), 15u);
  EXPECT_LE(wordCount((*study)->learned), 45u);
  EXPECT_EQ(std::count((*study)->learned.begin(), (*study)->learned.end(), '.'), 2);
}

TEST_P(ShippedLesson, HasFiveToTenStepsWithQuestions) {
  EXPECT_GE(lesson->steps.size(), 5u);
  EXPECT_LE(lesson->steps.size(), 10u);
  const auto questions = std::count_if(lesson->steps.begin(), lesson->steps.end(),
                                       [](const LessonStep& step) { return step.question.has_value(); });
  EXPECT_GE(questions, 2);
  const auto claims = std::count_if(lesson->steps.begin(), lesson->steps.end(),
                                    [](const LessonStep& step) { return !step.claims.empty(); });
  EXPECT_EQ(claims, std::ssize(lesson->steps)) << "a step without a claim";
  EXPECT_EQ(GetParam().filename().string().substr(0, 2),
            (lesson->number < 10 ? "0" : "") + std::to_string(lesson->number));
}

INSTANTIATE_TEST_SUITE_P(All, ShippedLesson, testing::ValuesIn(shippedFiles()), nameOf);

TEST(ShippedLessons, FourteenLessonsTake103Minutes) {
  std::set<std::string> ids;
  std::set<int> numbers;
  int minutes = 0;
  for (const auto& path : shippedFiles()) {
    const auto lesson = readLesson(path);
    ASSERT_TRUE(lesson) << lesson.error().message;
    ids.insert((*lesson)->id);
    numbers.insert((*lesson)->number);
    minutes += (*lesson)->minutes;
  }
  EXPECT_EQ(ids.size(), 14u);
  EXPECT_EQ(numbers.size(), 14u);
  EXPECT_EQ(*numbers.begin(), 0);
  EXPECT_EQ(*numbers.rbegin(), 13);
  EXPECT_EQ(minutes, 103);
}

}  // namespace
}  // namespace headscope::app
