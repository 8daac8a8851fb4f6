// Every step of every lesson at the supported window sizes, in the window and presented.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

/// Every step at the supported sizes: nothing overlaps, and everything the words point at is there.
class LessonSteps : public Lessons, public testing::WithParamInterface<std::pair<int, int>> {
 protected:
  LessonSteps() : Lessons(GetParam().first, GetParam().second) {}

  /// The token of the query row that the step points at.
  std::string word(const app::Snapshot& snapshot) {
    const auto& queries = app::shownSequence(ui.scene(), &snapshot)->queries;
    const auto at = static_cast<std::size_t>(std::max<app::Index>(page().at().look.query, 0));
    return at < queries.size() ? queries[at].text : "";
  }
  /// Whether the text shown before the answer has another token where the step points.
  bool standsElsewhere() {
    return page().asking() && page().at().look.control.empty() &&
           word(ui.snapshot()) != word(*page().here.study->snapshot);
  }
  /// Expects what the step points at to be on screen, with its mark drawn clear of the words.
  void isMarked(const ImRect& words) {
    const auto rect = app::lessons_page::lookRect(page());
    const app::LessonLook& look = page().at().look;
    if (look.mark <= 0) return;
    if (standsElsewhere()) {
      EXPECT_FALSE(rect);
      return;
    }
    ASSERT_TRUE(rect) << "what is looked at is not on screen: " << look.control;
    const ImRect screen(0, 0, static_cast<float>(GetParam().first), static_cast<float>(GetParam().second));
    EXPECT_TRUE(screen.Contains(*rect)) << "it lies beyond the window";
    EXPECT_FALSE(rect->Overlaps(words)) << "the words cover it";
    ASSERT_TRUE(ui.has("lesson.mark"));
    EXPECT_TRUE(screen.Contains(ui.find("lesson.mark"))) << "the mark reaches out of the window";
    const ImGuiWindow* marks = ImGui::FindWindowByName("lesson.marks");
    bool above = false;
    for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
      const bool covers = above && window->WasActive && window->RootWindow == window &&
                          window->Rect().Overlaps(ui.find("lesson.mark"));
      EXPECT_FALSE(covers) << window->Name << " covers the mark";
      above = above || window == marks;
    }
  }
  /// Visits each step: when presented its explanation first, then its question, then its answer.
  template <typename Check>
  void everyStep(bool present, const Check& check) {
    ui.view().present = present;
    for (const app::LessonEntry& entry : page().list.library->lessons)
      for (app::Index step = 0; step < static_cast<app::Index>(entry.lesson->steps.size()); ++step) {
        open(entry.lesson->id, step);
        for (int beat = 0;; ++beat) {
          SCOPED_TRACE(fmt::format("{}, step {}, beat {}", entry.lesson->id, step, beat));
          ui.park().frames(3);
          check();
          if (!page().asking()) break;
          next();
        }
      }
  }
};

TEST_P(LessonSteps, KeepMarkedControlsVisible) {
  everyStep(false, [&] {
    EXPECT_THAT(overlaps(ui), IsEmpty());
    EXPECT_THAT(cutOff(ui), IsEmpty());
    const ImRect button = ui.find("lesson.next");
    isMarked(ImRect(0, 0, button.Max.x, static_cast<float>(GetParam().second)));
  });
}

/// When presenting, nothing scrolls: everything to see and read is on screen.
TEST_P(LessonSteps, FitScreenWhenPresented) {
  everyStep(true, [&] {
    EXPECT_THAT(overlaps(ui), IsEmpty());
    EXPECT_THAT(cutOff(ui, Scrolling::doesnt), IsEmpty());
    const ImRect caption = ui.find("lesson.caption"), words = ui.find("lesson.caption.words");
    EXPECT_LE(words.Max.y, caption.Max.y + 1) << "the words go on below";
    isMarked(caption);
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, LessonSteps, testing::Values(std::pair(1280, 720), std::pair(1920, 1080)),
                         [](const auto& info) {
                           return fmt::format("at{}x{}", info.param.first, info.param.second);
                         });

}  // namespace
}  // namespace headscope::test
