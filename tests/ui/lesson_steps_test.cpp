// Every step of every lesson at the sizes that are promised, alone and in a hall.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/page_check.h"
#include "tests/ui/lessons_support.h"

namespace headscope::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
}  // namespace
}  // namespace headscope::test
