// Learn: the lessons along their path, the finished talks, the search, and where to start.

#include <gtest/gtest.h>

#include <random>

#include "app/pages/lessons/lesson_list.h"
#include "app/platform/ui_state.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;

TEST_F(Lessons, ListShowsAllLessonsWithComputedPictures) {
  ASSERT_TRUE(page().list.library);
  EXPECT_THAT(page().list.library->problems, IsEmpty());
  ASSERT_EQ(page().list.library->lessons.size(), 14u);
  for (std::size_t i = 0; i < 14; ++i) {
    EXPECT_EQ(page().list.library->lessons[i].lesson->number, static_cast<int>(i));
    ASSERT_TRUE(page().list.covers[i]) << i;
    EXPECT_GT(page().list.covers[i]->size(), 0) << i;
  }
  ui.park();
  EXPECT_THAT(overlaps(ui), IsEmpty());
  EXPECT_THAT(cutOff(ui), IsEmpty());
  EXPECT_THAT(faintTexts(ui), IsEmpty());
  EXPECT_TRUE(imagesMatch(ui.screenshot("lesson.card.sinks"), "lesson_card"));
}

TEST_F(Lessons, PathFollowsTheParts) {
  const auto parts = app::lessons_page::pathParts(*page().list.library);
  std::vector<std::string> headings;
  for (const auto& part : parts) headings.push_back(part.heading);
  EXPECT_THAT(headings,
              ElementsAre("One head", "Masks", "Sharing and keeping", "What heads do", "At the end"));
  const auto at = [&](const std::string& id) { return ui.find("lesson.card." + id); };
  EXPECT_LT(at("scaled_attention").Min.x, at("why_scale").Min.x);
  EXPECT_EQ(at("scaled_attention").Min.y, at("why_scale").Min.y);
  EXPECT_GT(at("causal_masks").Min.y, at("why_scale").Max.y);
  EXPECT_GT(at("mistakes").Min.x, at("sinks").Max.x) << "the end comes after all parts";
  EXPECT_TRUE(parts.back().ends);
}

/// What a search leaves keeps its order, and nothing of it is the end.
TEST_F(Lessons, SearchKeepsTheOrderOfParts) {
  std::vector<std::string> headings;
  for (const auto& part : app::lessons_page::pathParts(*page().list.library, "head")) {
    headings.push_back(part.heading);
    EXPECT_FALSE(part.ends) << part.heading;
  }
  EXPECT_THAT(headings, ElementsAre("One head", "Masks", "What heads do"));
}

/// A person's own lesson comes after the program's, whose end stays the end.
TEST_F(Lessons, OwnLessonIsNotTheEnd) {
  app::LessonLibrary library = *page().list.library;
  auto own = std::make_shared<app::Lesson>(*library.lessons.front().lesson);
  own->part.clear();
  library.lessons.push_back({own, "mine.json", true, {}});
  const auto parts = app::lessons_page::pathParts(library);
  ASSERT_EQ(parts.size(), 6u);
  EXPECT_EQ(parts[5].heading, "Your lessons");
  EXPECT_FALSE(parts[5].ends);
  EXPECT_TRUE(parts[4].ends);
}

TEST(LessonPath, CardsNeverOverlapAndStayInTheirWidth) {
  std::mt19937 random(7);
  const auto upTo = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most + 1)); };
  for (int round = 0; round < 300; ++round) {
    std::vector<app::lessons_page::PathPart> parts(static_cast<std::size_t>(1 + upTo(6)));
    for (auto& part : parts) part.lessons.resize(static_cast<std::size_t>(1 + upTo(5)));
    parts[static_cast<std::size_t>(upTo(static_cast<int>(parts.size()) - 1))].ends = true;
    const ImRect area(10, 20, 10 + static_cast<float>(200 + upTo(1500)),
                      20 + static_cast<float>(100 + upTo(900)));
    const auto plan = app::lessons_page::layPath(parts, area, 1 + upTo(3), 18, ImVec2(20, 12), 58, 150);
    ASSERT_EQ(plan.cards.size(), parts.size());
    std::vector<ImRect> all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      ASSERT_EQ(plan.cards[i].size(), parts[i].lessons.size());
      all.insert(all.end(), plan.cards[i].begin(), plan.cards[i].end());
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_GE(all[i].Min.x, area.Min.x);
      EXPECT_LE(all[i].Max.x, area.Max.x + 0.5f);
      EXPECT_GE(all[i].Min.y, area.Min.y + 18) << "below its heading";
      EXPECT_LE(all[i].Max.y, plan.bottom + 0.5f);
      EXPECT_GE(all[i].GetHeight(), 57.9f);
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(all[i].Overlaps(all[j])) << round;
    }
  }
}

TEST_F(Lessons, BeginnerIsToldWhereToStart) {
  app::uiState().watches = true;
  ui.draw();
  EXPECT_TRUE(ui.says("New to attention?"));
  EXPECT_TRUE(ui.says("Text becomes tokens")) << "what the first lesson's steps are";
  ui.click("lesson.go_on");
  ASSERT_TRUE(page().here.lesson);
  EXPECT_EQ(page().here.lesson->number, 0);
  next();
  next();
  ASSERT_EQ(page().here.step, 1) << "after the answer to the first step's question";
  ui.request("lesson.list");
  ASSERT_FALSE(page().here.lesson);
  EXPECT_FALSE(ui.says("New to attention?"));
  EXPECT_TRUE(ui.says("Continue with step 2"));
}

TEST_F(SmallLessons, LearnHasPathAndTalksWithoutScrolling) {
  EXPECT_EQ(ui.names("lesson.card.").size(), 14u);
  for (const std::string& card : ui.names("lesson.card.")) EXPECT_TRUE(ui.visible(card)) << card;
  app::uiState().watches = true;
  ui.draw();
  for (const app::LessonEntry& entry : page().list.library->lessons)
    EXPECT_TRUE(ui.says(entry.lesson->summary)) << entry.lesson->title;
  for (const app::ReadyTalk& talk : app::kReadyTalks)
    EXPECT_TRUE(ui.visible(std::string("talk.give.") + talk.id)) << talk.title;
  ui.park();
  EXPECT_THAT(flaws(ui), IsEmpty());
}

TEST_F(Lessons, CardOpensLessonAndEscapeClosesIt) {
  ui.click("lesson.card.sinks");
  ASSERT_TRUE(page().here.lesson);
  EXPECT_EQ(page().here.lesson->id, "sinks");
  ui.key(Key::escape);
  EXPECT_FALSE(page().here.lesson);
}

TEST_F(Lessons, SearchNarrowsList) {
  ui.click("lesson.search_box").type("cache");
  EXPECT_TRUE(ui.has("lesson.card.kv_cache"));
  EXPECT_FALSE(ui.has("lesson.card.scaled_attention"));
}

}  // namespace
}  // namespace headscope::test
