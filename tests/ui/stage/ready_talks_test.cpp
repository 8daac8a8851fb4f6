// The program's finished talks: offered on Learn, opened as copies, and shown view by view.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/pages/pages.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/ui/stage/talk_support.h"

namespace headscope::test {
namespace {

using app::Key;

std::string actionOf(const app::ReadyTalk& talk) {
  return std::string("talk.ready.") + talk.id;
}

TEST_F(Talk, LearnOffersFinishedTalks) {
  app::uiState().watches = true;
  go("lessons");
  for (const auto& [width, height] : {std::pair(1920, 1080), std::pair(1280, 720)}) {
    ui.resize(width, height);
    for (const app::ReadyTalk& talk : app::kReadyTalks) {
      EXPECT_TRUE(ui.visible(actionOf(talk))) << talk.title << " at " << width;
      EXPECT_TRUE(ui.says(talk.title)) << talk.title << " at " << width;
    }
  }
  EXPECT_TRUE(ui.says("12 views · 25 min"));
  for (const auto& [width, height] : {std::pair(800, 600), std::pair(640, 480)}) {
    ui.resize(width, height).park();
    EXPECT_THAT(overlaps(ui), IsEmpty()) << width;
  }
  ui.resize(1280, 720);
  ui.click("talk.ready.kv_cache");
  EXPECT_EQ(names().size(), 12u);
  EXPECT_FALSE(ui.view().present);
}

TEST_F(Talk, LearnPresentsAFinishedTalkAtOnce) {
  go("lessons");
  ui.click("talk.give.induction");
  EXPECT_EQ(names().size(), 11u);
  EXPECT_TRUE(ui.view().present);
  EXPECT_EQ(own().cursor.page, "talk");
  EXPECT_EQ(own().cursor.view, 0);
}

TEST_F(Talk, ListsAreNotViews) {
  for (const char* page : {"lessons", "talk"}) {
    go(page);
    ui.request("talk.add");
    EXPECT_THAT(names(), IsEmpty()) << page;
    EXPECT_THAT(ui.view().messages.notice, HasSubstr("can't be added")) << page;
  }
}

TEST_F(Talk, EveryPageAddsToTheTalkAndThenItHasATab) {
  go("cost");
  EXPECT_FALSE(ui.has("page.talk"));
  ui.click("bar.talk");
  EXPECT_THAT(names(), ElementsAre("Cost"));
  EXPECT_TRUE(ui.has("page.talk"));
  go("lessons");
  ui.click("lesson.talk.open");
  EXPECT_EQ(own().cursor.page, "talk");
}

TEST_F(Talk, FinishedTalkIsACopyAndUndoRestoresTheScene) {
  ui.session().scene().setup.model.kvHeads = 4;
  ui.draw();
  ui.request("talk.ready.attention");
  EXPECT_EQ(names().size(), 12u);
  EXPECT_EQ(own().cursor.page, "talk");
  EXPECT_EQ(ui.session().document().path(), "") << "saving never writes into the program's folder";
  EXPECT_FALSE(ui.session().document().dirty()) << "a copy without changes needs no saving";
  ASSERT_EQ(ui.session().workspace().unsaved().size(), 1u) << "the person's scene";
  EXPECT_EQ(ui.session().workspace().unsaved()[0].scene->setup.model.kvHeads, 4);
  ui.chord(kCtrl, static_cast<Key>('Z'));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_EQ(own().setup.model.kvHeads, 4);
}

TEST_F(Talk, ClosingAFinishedTalkKeepsTheSceneBeforeIt) {
  ui.session().scene().setup.model.kvHeads = 4;
  ui.draw();
  ui.request("talk.ready.induction");
  ui.request("talk.close");
  EXPECT_THAT(names(), IsEmpty());
  const auto& steps = ui.session().document().steps();
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [](const app::History::Step& step) {
    return step.scene->talk->views.empty() && step.scene->setup.model.kvHeads == 4;
  }));
}

TEST_F(Talk, FinishedTalkOpensOverTheTalkBeforeItAndUndoReturnsToThat) {
  threeViews();
  ui.request("talk.ready.kv_cache");
  EXPECT_EQ(names().size(), 12u);
  ui.chord(kCtrl, static_cast<Key>('Z'));
  EXPECT_THAT(names(), ElementsAre("Heads", "Cache", "Cost"));
}

TEST_F(Talk, ActionListFindsFinishedTalks) {
  for (const app::ReadyTalk& talk : app::kReadyTalks) {
    const app::Action& action = ui.session().actions().find(actionOf(talk));
    EXPECT_EQ(action.name, std::string("Talk: ") + talk.title);
    EXPECT_GT(action.matches("lecture"), 0);
  }
  EXPECT_GT(ui.session().actions().find("talk.ready.induction").matches("induction circuit"), 0);
}

TEST_F(Talk, EveryViewOfFinishedTalksShowsOnItsPage) {
  app::uiState().watches = true;
  for (const app::ReadyTalk& talk : app::kReadyTalks) {
    ui.request(actionOf(talk));
    ASSERT_EQ(std::ssize(names()), talk.views) << talk.title;
    ui.view().present = true;
    ui.view().messages.notice.clear();  // it would replace the caption
    ui.draw();
    for (int i = 0; i < talk.views; ++i) {
      const app::TalkView& view = own().talk->views[static_cast<std::size_t>(i)];
      SCOPED_TRACE(view.name);
      EXPECT_TRUE(app::checkPage(*view.scene, app::pageTable()));
      EXPECT_EQ(shownPage(), view.scene->cursor.page);
      EXPECT_EQ(ui.scene().cursor.cell, view.scene->cursor.cell) << "the selection lies within the text";
      EXPECT_EQ(ui.session().workspace().pages().named(shownPage()).error(ui.scene()), std::nullopt);
      EXPECT_EQ(ui.view().messages.error, "");
      EXPECT_TRUE(ui.says(view.name)) << "on stage";
      press(Key::pageDown);
    }
    ui.view().present = false;
    ui.draw();
  }
}

TEST_F(Talk, CacheNotesSayWhatThePageShows) {
  app::uiState().watches = true;
  ui.request("talk.ready.kv_cache");
  const auto shows = [&](int view, std::initializer_list<const char*> figures) {
    press(Key::home);
    for (int i = 1; i < view; ++i) press(Key::pageDown);
    const std::string& notes = own().talk->views[static_cast<std::size_t>(view - 1)].notes;
    for (const char* figure : figures) {
      EXPECT_THAT(notes, HasSubstr(figure));
      EXPECT_TRUE(ui.says(figure)) << figure;
    }
  };
  ui.view().present = true;
  shows(9, {"largest batch 2"});
  shows(11, {"0.62 %", "11.1 %"});
  shows(12, {"71.6 %", "30.5 %"});
}

}  // namespace
}  // namespace headscope::test
