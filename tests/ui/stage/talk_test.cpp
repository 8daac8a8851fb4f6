// A talk: its views are added, ordered, navigated, changed and saved as a lecturer does.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/scene/scene_json.h"
#include "app/session/figures.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/stage/talk_support.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

constexpr auto kKeep = static_cast<Key>('K');

TEST_F(Talk, EmptyTalkExplainsHowToAddViews) {
  app::uiState().watches = true;
  go("talk");
  EXPECT_TRUE(ui.says("No views yet"));
  EXPECT_TRUE(ui.visible("empty.page.lessons"));
  ui.view().present = true;
  press(Key::pageDown);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Talk, AddsViewsFromEveryPageAndShowsThemAgain) {
  threeViews();
  EXPECT_THAT(names(), ElementsAre("Heads", "Cache", "Cost"));
  EXPECT_EQ(shownPage(), "heads");
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 8);
  press(Key::pageDown);
  EXPECT_EQ(shownPage(), "cache");
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 2);
  press(Key::pageDown);
  EXPECT_EQ(shownPage(), "cost");
  press(Key::pageDown);
  EXPECT_EQ(shownPage(), "cost") << "the last view stays";
  press(Key::pageUp);
  press(Key::home);
  EXPECT_EQ(shownPage(), "heads");
  press(Key::end);
  EXPECT_EQ(shownPage(), "cost");
  EXPECT_EQ(own().setup.model.kvHeads, 1) << "the window's own scene waits";
}

TEST_F(Talk, ViewKeepsSelectedCellWhereverThePointerRests) {
  app::choose(ui.session().scene().cursor, {3, 5, 2});
  ui.hoverAt("head.2", 0.05f, 0.95f);
  ASSERT_EQ(ui.view().hover, (app::Crosshair{2, 11, 0}));
  add();
  const app::Cursor& kept = own().talk->views[0].scene->cursor;
  EXPECT_EQ(kept.cell, (app::Cell{3, 5, 2}));
  EXPECT_TRUE(kept.keyChosen);
  EXPECT_EQ(own().cursor.cell, kept.cell) << "and adding it changes no selection";
}

TEST_F(Talk, LeavingViewRevertsStageChangesAndUndoRestoresThem) {
  threeViews();
  ui.session().scene().setup.model.kvHeads = 4;
  ui.draw();
  EXPECT_TRUE(ui.has("talk.keep"));
  press(Key::pageDown);
  press(Key::pageUp);
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 8);
  EXPECT_FALSE(state().stage.changed());
  EXPECT_FALSE(ui.has("talk.keep"));
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 4) << "nothing that was done is lost";
  EXPECT_EQ(own().talk->views[0].scene->setup.model.kvHeads, 8);
}

TEST_F(Talk, KeepStoresStageChangesInView) {
  threeViews();
  ui.session().scene().setup.model.kvHeads = 4;
  ui.draw();
  press(kKeep, kCtrlShift);
  EXPECT_EQ(own().talk->views[0].scene->setup.model.kvHeads, 4);
  press(Key::pageDown);
  press(Key::pageUp);
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 4);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(own().talk->views[0].scene->setup.model.kvHeads, 8) << "keeping is a step";
  EXPECT_EQ(ui.scene().setup.model.kvHeads, 8);
}

TEST_F(Talk, KeysReorderDuplicateAndDeleteViewsUndoably) {
  threeViews();
  press(Key::pageDown, kCtrl);
  EXPECT_THAT(names(), ElementsAre("Cache", "Heads", "Cost"));
  EXPECT_EQ(shownPage(), "heads") << "the view that was moved is still shown";
  press(Key::pageUp, kCtrl);
  press(static_cast<Key>('D'), kCtrl);
  EXPECT_THAT(names(), ElementsAre("Heads", "Heads", "Cache", "Cost"));
  EXPECT_EQ(state().at, 1);
  press(Key::del);
  press(Key::del);
  EXPECT_THAT(names(), ElementsAre("Heads", "Cost"));
  ui.chord(kCtrl, Key::z);
  EXPECT_THAT(names(), ElementsAre("Heads", "Cache", "Cost"));
  ui.chord(kCtrlShift, Key::z);
  EXPECT_THAT(names(), ElementsAre("Heads", "Cost"));
  press(static_cast<Key>('H'), kCtrl);
  EXPECT_TRUE(ui.has("history.3")) << "the talk's steps are those that undo acts on";
  ui.click("history.0");
  press(Key::escape);
  EXPECT_TRUE(own().talk->views.empty());
}

TEST_F(Talk, DeletingLastViewShowsEmptyTalk) {
  add();
  go("talk");
  press(Key::del);
  app::uiState().watches = true;
  ui.draw();
  EXPECT_TRUE(ui.says("No views yet"));
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(state().count, 1);
}

TEST_F(Talk, DraggingAlongStripReordersViews) {
  threeViews();
  ui.dragAcross("talk.view.0", ImVec2(0.5f, 0.5f), ImVec2(3.2f, 0.5f));
  EXPECT_THAT(names(), ElementsAre("Cache", "Cost", "Heads"));
  EXPECT_EQ(shownPage(), "heads");
  ui.click("talk.view.1");
  EXPECT_EQ(shownPage(), "cost");
  EXPECT_THAT(names(), ElementsAre("Cache", "Cost", "Heads")) << "a click moves nothing";
}

TEST_F(Talk, NamesAndNotesCanBeEdited) {
  threeViews();
  press(Key::enter);
  ui.type("!").clickAway();
  EXPECT_THAT(names()[0], HasSubstr("!"));
  ui.replaceText("talk.notes", "Ask the hall").clickAway().wait(1);
  EXPECT_EQ(own().talk->views[0].notes, "Ask the hall");
  press(Key::pageDown);
  EXPECT_EQ(ui.session().notes(), "");
  press(Key::pageUp);
  EXPECT_EQ(ui.session().notes(), "Ask the hall");
  EXPECT_EQ(ui.session().nextScene(), own().talk->views[1].scene);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(own().talk->views[0].notes, "") << "typing is undone like everything";
}

TEST_F(Talk, SavesByCtrlSAndReopensByDropping) {
  const TemporaryFolder folder;
  threeViews();
  const std::string before = UiDriver::textOf(own());
  ui.chord(kCtrl, Key::s).replaceText("files.path", (folder / "talk.json").string());
  press(Key::enter);
  EXPECT_TRUE(ui.session().workspace().unsaved().empty());
  UiDriver other(1280, 720);
  other.drop({(folder / "talk.json").string()});
  other.draw();
  EXPECT_EQ(UiDriver::textOf(other.session().document().scene()), before);
  EXPECT_EQ(other.scene().cursor.page, "heads") << "its first view";
  other.key(Key::pageDown);
  other.draw();
  EXPECT_EQ(other.scene().cursor.page, "cache");
}

TEST_F(Talk, RefusesDamagedTalkAndKeepsCurrentOne) {
  const TemporaryFolder folder;
  threeViews();
  std::ofstream(folder / "bad.json")
      << R"({"format": "headscope scene", "version": 2, "talk": [{"page": "slides"}]})";
  ui.drop({(folder / "bad.json").string()});
  EXPECT_THAT(ui.view().messages.error,
              HasSubstr("bad.json: talk[0]: cursor.page is \"slides\", expected heads"));
  EXPECT_THAT(names(), ElementsAre("Heads", "Cache", "Cost"));
}

TEST_F(Talk, AsksAboutUnsavedTalkBeforeClosing) {
  const TemporaryFolder folder;
  threeViews();
  ui.session().closing().request();
  ui.draw();
  EXPECT_EQ(ui.dialog(), "discard");
  EXPECT_FALSE(ui.session().closing().done());
}

TEST_F(Talk, CountsStageChangesAsUnsaved) {
  threeViews();
  ASSERT_EQ(ui.session().workspace().unsaved().size(), 1u) << "the talk";
  ui.session().scene().setup.model.kvHeads = 4;
  ui.draw();
  ASSERT_EQ(ui.session().workspace().unsaved().size(), 2u);
  press(Key::pageDown);
  EXPECT_EQ(ui.session().workspace().unsaved().size(), 1u) << "what was put back is as it was";
}

TEST_F(Talk, OpenedScenesKeepTheTalk) {
  const TemporaryFolder folder;
  Scene other = app::openingScene();
  other.setup.model.kvHeads = 4;
  ASSERT_TRUE(app::writeScene(folder / "other.json", other).ok());
  threeViews();
  ui.drop({(folder / "other.json").string()});
  EXPECT_EQ(shownPage(), "heads");
  EXPECT_EQ(own().cursor.page, "heads") << "the scene is shown as the file has it";
  add();
  EXPECT_THAT(names(), ElementsAre("Heads", "Cache", "Cost", "Heads"));
  EXPECT_EQ(own().talk->views[3].scene->setup.model.kvHeads, 4);
}

TEST_F(Talk, LessonCanBecomeTalk) {
  ui.session().scene().cursor.page = "lessons";
  ui.session().scene().cursor.lesson = {"why_scale", 0, -1, false};
  ui.draw();
  const auto lesson = ui.session().page<app::lessons_page::Page>().state().here.lesson;
  ASSERT_NE(lesson, nullptr);
  ui.request("lesson.talk");
  ASSERT_EQ(own().talk->views.size(), lesson->steps.size());
  EXPECT_EQ(own().cursor.page, "talk");
  for (std::size_t i = 0; i < lesson->steps.size(); ++i) {
    EXPECT_EQ(own().talk->views[i].name, lesson->steps[i].title);
    EXPECT_EQ(ui.scene().setup, lesson->steps[i].scene.setup) << i;
    press(Key::pageDown);
  }
}

TEST_F(Talk, LessonStepCanBecomeView) {
  ui.session().scene().cursor.page = "lessons";
  ui.session().scene().cursor.lesson = {"why_scale", 1, -1, false};
  ui.draw();
  const app::Setup staged = ui.scene().setup;
  const std::string page = shownPage();
  add();
  go("talk");
  EXPECT_EQ(ui.scene().setup, staged);
  EXPECT_EQ(shownPage(), page);
}

TEST_F(Talk, PaintsViewPicturesBetweenFrames) {
  threeViews();
  app::ScenePainter painter([] {});
  ui.frames(1);
  ASSERT_NE(ui.view().pictures.wanted(), nullptr);
  for (int i = 0; i < 2000 && ui.view().pictures.wanted(); ++i) {
    painter.step(ui.view(), own());
    ui.frames(1);
  }
  EXPECT_EQ(ui.view().pictures.wanted(), nullptr);
  EXPECT_EQ(ui.view().pictures.painted.size(), 3u);
  const render::Image first = ui.screenshot("talk.view.0"), second = ui.screenshot("talk.view.1");
  EXPECT_GT(pixelsApart(first, second), first.width * first.height / 20) << "two pages look different";
  const std::size_t shown = own().talk->views.size();
  press(Key::del);
  painter.step(ui.view(), own());
  EXPECT_EQ(ui.view().pictures.painted.size(), shown - 1) << "the picture goes with its view";
}

TEST_F(Talk, ScrollBarAppearsWhenViewsDoNotFit) {
  for (int i = 0; i < 3; ++i) add();
  go("talk");
  EXPECT_FALSE(ui.has("talk.scroll"));
  for (int i = 0; i < 9; ++i) add();
  press(Key::home);
  EXPECT_FALSE(ui.visible("talk.view.11"));
  ui.clickAt("talk.scroll", 0.99f, 0.5f);
  EXPECT_TRUE(ui.visible("talk.view.11"));
}

TEST_F(Talk, PageHasNoFlawsWithManyViewsAndLongNames) {
  for (int i = 0; i < 12; ++i) add();
  go("talk");
  press(Key::enter);
  ui.type(std::string(60, 'w')).clickAway();
  ui.session().scene().setup.model.kvHeads = 4;
  ui.park();
  for (const auto& [width, height] : {std::pair(1280, 720), std::pair(1920, 1080), std::pair(800, 600)}) {
    ui.resize(width, height);
    EXPECT_THAT(flaws(ui), IsEmpty()) << width;
  }
}

}  // namespace
}  // namespace headscope::test
