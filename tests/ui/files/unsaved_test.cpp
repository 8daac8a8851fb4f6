// Unsaved work: the question on closing, and recovery at the next start.

#include <optional>

#include "app/platform/ui_state.h"
#include "app/scene/recovery_store.h"
#include "app/scene/scene_json.h"
#include "app/session/figures.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

constexpr auto kQuit = static_cast<Key>('Q');

class Unsaved : public testing::Test {
 protected:
  Unsaved() { start(); }

  /// Starts another window after ending the open one.
  void start() {
    ui_.reset();
    store_.reset();
    ui_.emplace(1280, 720);
    store_ = std::make_shared<app::RecoveryStore>(folder_ / "recovery");
    ui().session().closing().recovery().keepIn(store_);
    ui().draw();
  }
  UiDriver& ui() { return *ui_; }
  const Scene& own() { return ui().session().document().scene(); }
  std::vector<std::string> unsavedTexts() {
    std::vector<std::string> texts;
    for (const app::UnsavedScene& each : ui().session().workspace().unsaved())
      texts.push_back(*each.scene->setup.input.text);
    return texts;
  }
  void edit(const std::string& text) {
    ui().session().scene().setup.input.text = text;
    ui().draw();
  }
  void openLesson() {
    Scene scene = own();
    scene.cursor.page = "lessons";
    scene.cursor.lesson = {"why_scale", 0, -1, false};
    ui().session().scene() = scene;
    ui().draw();
    ASSERT_NE(ui().scene().setup, own().setup);
  }
  void answer(const std::string& typed) {
    ui().replaceText("files.path", typed);
    ui().key(Key::enter);
    ui().draw();
  }
  /// Ends like the window's loop.
  void end() { (void)ui().session().stop(); }
  std::string path(const std::string& name) { return (folder_ / name).string(); }
  std::string textIn(const std::string& name) {
    const auto scene = app::readScene(folder_ / name);
    return scene.ok() ? *scene->setup.input.text : scene.error().message;
  }

  const TemporaryFolder folder_;
  std::shared_ptr<app::RecoveryStore> store_;
  std::optional<UiDriver> ui_;
};

TEST_F(Unsaved, ClosingAsksAboutWorkBeforeReset) {
  edit("precious");
  ui().chord(kCtrl, Key::n);
  ui().draw();
  EXPECT_EQ(own().setup, app::openingScene().setup);
  ui().chord(kCtrl, kQuit);
  ASSERT_EQ(ui().dialog(), "discard");
  ui().click("discard.save.0");
  ASSERT_EQ(ui().dialog(), "Save the scene");
  answer(path("kept.json"));
  EXPECT_EQ(textIn("kept.json"), "precious");
  EXPECT_TRUE(ui().session().closing().done()) << "all is saved";
}

TEST_F(Unsaved, SavesScenesOneByOneAndAsksAboutTheRest) {
  ASSERT_TRUE(app::writeScene(path("a.json"), app::openingScene()).ok());
  ui().drop({path("a.json")});
  edit("a, edited");
  ui().chord(kCtrl, Key::n);
  edit("new");
  EXPECT_THAT(unsavedTexts(), ElementsAre("a, edited", "new"));
  ui().session().closing().request();
  ui().draw();
  ui().click("discard.save.0");
  ui().draw();
  EXPECT_EQ(textIn("a.json"), "a, edited") << "it has a file";
  EXPECT_FALSE(ui().session().closing().done());
  ASSERT_EQ(ui().dialog(), "discard");
  EXPECT_FALSE(ui().has("discard.save.1"));
  ui().click("discard.save.0");
  answer(path("nowhere/b.json"));
  EXPECT_FALSE(ui().session().closing().done()) << "what can't be saved isn't lost";
  ui().key(Key::escape);
  ui().session().closing().request();
  ui().draw();
  ui().session().closing().request();
  ui().draw();
  EXPECT_FALSE(ui().session().closing().done()) << "asked once more is no answer";
  ui().click("discard.leave");
  EXPECT_TRUE(ui().session().closing().done());
}

TEST_F(Unsaved, AsksBeforeReplacingWhatOthersWroteAndThenCloses) {
  ASSERT_TRUE(app::writeScene(path("a.json"), app::openingScene()).ok());
  ui().drop({path("a.json")});
  edit("a, edited");
  Scene theirs = app::openingScene();
  theirs.setup.input.text = "theirs";
  ASSERT_TRUE(app::writeScene(path("a.json"), theirs).ok());
  ui().chord(kCtrl, kQuit);
  ui().click("discard.save.0");
  ui().draw();
  ASSERT_EQ(ui().dialog(), "changed");
  EXPECT_FALSE(ui().session().closing().done());
  EXPECT_EQ(textIn("a.json"), "theirs");
  ui().click("changed.replace");
  ui().draw();
  EXPECT_EQ(textIn("a.json"), "a, edited");
  EXPECT_TRUE(ui().session().closing().done());
}

TEST_F(Unsaved, RecoveredWorkAsksToo) {
  ASSERT_TRUE(app::writeScene(path("a.json"), app::openingScene()).ok());
  ui().drop({path("a.json")});
  edit("a, edited");
  end();
  Scene theirs = app::openingScene();
  theirs.setup.input.text = "theirs";
  ASSERT_TRUE(app::writeScene(path("a.json"), theirs).ok());
  start();
  ui().click("recovery.restore");
  ui().draw();
  ASSERT_EQ(*own().setup.input.text, "a, edited");
  ui().chord(kCtrl, Key::s);
  EXPECT_EQ(ui().dialog(), "changed");
  EXPECT_EQ(textIn("a.json"), "theirs");
}

TEST_F(Unsaved, AsksAboutBothDocumentAndLessonStage) {
  edit("my own");
  ASSERT_NO_FATAL_FAILURE(openLesson());
  EXPECT_THAT(unsavedTexts(), ElementsAre("my own"));
  edit("on the stage");
  EXPECT_THAT(unsavedTexts(), ElementsAre("my own", "on the stage"));
  ui().key(static_cast<Key>('1'));
  ui().draw();
  EXPECT_THAT(unsavedTexts(), ElementsAre("my own", "on the stage")) << "the stage waits behind another page";
  ui().session().closing().request();
  ui().draw();
  ui().click("discard.save.0");
  answer(path("own.json"));
  EXPECT_EQ(textIn("own.json"), "my own");
  ASSERT_EQ(ui().dialog(), "discard");
  ui().click("discard.save.0");
  answer(path("stage.json"));
  EXPECT_EQ(textIn("stage.json"), "on the stage");
  EXPECT_TRUE(ui().session().closing().done());
}

TEST_F(Unsaved, AsksAboutStageChangesAfterLeavingStep) {
  const auto both = UnorderedElementsAre("on the first", "on the next");
  ASSERT_NO_FATAL_FAILURE(openLesson());
  edit("on the first");
  ui().key(Key::pageDown);
  ui().draw();
  edit("on the next");
  EXPECT_THAT(unsavedTexts(), both);
  ui().view().request("lesson.list");
  ui().draw();
  EXPECT_THAT(unsavedTexts(), both) << "the lesson was left";
  ui().chord(kCtrl, Key::n);
  ui().draw();
  EXPECT_THAT(unsavedTexts(), both) << "another scene was opened";
  ui().session().closing().request();
  app::uiState().watches = true;
  ui().draw();
  EXPECT_THAT(app::uiState().texts,
              testing::Contains(testing::Field(&app::DrawnText::text, HasSubstr("step 1 of "))));
  const std::string first = unsavedTexts().front(), second = unsavedTexts().back();
  ui().click("discard.save.0");
  answer(path("first.json"));
  EXPECT_EQ(textIn("first.json"), first);
  EXPECT_THAT(unsavedTexts(), ElementsAre(second));
}

TEST_F(Unsaved, AdoptingLessonSceneKeepsOwnSceneAndFile) {
  ASSERT_TRUE(app::writeScene(path("mine.json"), app::openingScene()).ok());
  ui().drop({path("mine.json")});
  edit("mine, edited");
  ASSERT_NO_FATAL_FAILURE(openLesson());
  edit("on the stage");
  ui().key(Key::enter, {.shift = true});
  ui().draw();
  ASSERT_EQ(own().setup.input.text, "on the stage");
  EXPECT_EQ(ui().session().document().name(), "untitled") << "it isn't what mine.json holds";
  EXPECT_THAT(unsavedTexts(), ElementsAre("mine, edited", "on the stage"));
  ui().chord(kCtrl, Key::z);
  EXPECT_EQ(own().setup.input.text, "mine, edited");
  EXPECT_EQ(ui().session().document().name(), "mine.json");
}

TEST_F(Unsaved, NextStartRestoresWorkAfterSignal) {
  ASSERT_TRUE(app::writeScene(path("a.json"), app::openingScene()).ok());
  ui().drop({path("a.json")});
  edit("a, edited");
  ui().chord(kCtrl, Key::n);
  edit("new");
  ASSERT_TRUE(store_->write().ok());  // like the signals' thread
  start();
  ASSERT_EQ(ui().dialog(), "recovery");
  EXPECT_EQ(own().setup, app::openingScene().setup) << "nothing is opened without an answer";
  ui().click("recovery.restore");
  ui().draw();
  EXPECT_EQ(ui().dialog(), "");
  EXPECT_EQ(own().setup.input.text, "new");
  EXPECT_THAT(unsavedTexts(), ElementsAre("a, edited", "new")) << "it is in no file yet";
  ui().chord(kCtrl, Key::z);
  EXPECT_EQ(own().setup.input.text, "a, edited");
  EXPECT_EQ(ui().session().document().path(), path("a.json"));
  // A recovered window that is lost again loses nothing either.
  end();
  start();
  ASSERT_EQ(ui().dialog(), "recovery");
  ui().click("recovery.restore");
  ui().draw();
  EXPECT_THAT(unsavedTexts(), ElementsAre("new", "a, edited"));
}

TEST_F(Unsaved, KeepsWorkWhenWindowEndsUnanswered) {
  edit("precious");
  ui().session().closing().request();
  ui().session().closing().leave();  // like a request to end while the question is open
  EXPECT_TRUE(ui().session().closing().done());
  end();
  start();
  EXPECT_EQ(ui().dialog(), "recovery");
}

TEST_F(Unsaved, DoesNotOfferRecoveryAfterChoosingLeave) {
  edit("not worth it");
  ASSERT_TRUE(store_->write().ok());
  ui().session().closing().request();
  ui().draw();
  ui().click("discard.leave");
  end();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "recovery"), {}), 0);
  start();
  EXPECT_EQ(ui().dialog(), "");
}

TEST_F(Unsaved, SavingClearsRecovery) {
  edit("saved later");
  ASSERT_TRUE(store_->write().ok());
  ui().chord(kCtrl, Key::s);
  answer(path("later.json"));
  ui().draw();
  EXPECT_FALSE(store_->holdsWork()) << "without waiting for the end";
}

TEST_F(Unsaved, ReopensSavedSceneFromRecentFiles) {
  edit("the older");
  ui().chord(kCtrl, Key::s);
  answer(path("older.json"));
  edit("the newer");
  ui().chord({.ctrl = true, .shift = true}, Key::s);
  answer(path("newer.json"));
  ui().draw();
  ui().chord(kCtrl, Key::o);
  ui().draw();
  ASSERT_TRUE(ui().has("recent.1"));
  ui().click("recent.1");
  ui().draw();
  EXPECT_EQ(ui().dialog(), "");
  EXPECT_EQ(own().setup.input.text, "the older");
}

TEST_F(Unsaved, OfferShowsPictureUnlessDrawingItCrashed) {
  edit("drawn");
  end();
  start();
  const auto settles = [&] {
    app::ScenePainter painter([] {});
    for (int i = 0; i < 3000 && ui().view().pictures.wanted(); ++i) {
      painter.step(ui().view(), own());
      ui().frames(1);
    }
    ui().draw();
    return ui().view().pictures.painted.size();
  };
  ASSERT_EQ(ui().dialog(), "recovery");
  ASSERT_TRUE(ui().has("recovery.picture.0"));
  EXPECT_NE(ui().view().pictures.wanted(), nullptr);
  start();  // while its picture was being drawn
  ASSERT_EQ(ui().dialog(), "recovery");
  EXPECT_EQ(ui().view().pictures.wanted(), nullptr) << "it isn't drawn again";
  app::uiState().watches = true;
  ui().draw();
  EXPECT_THAT(app::uiState().texts, testing::Contains(testing::Field(&app::DrawnText::text, "No picture")));
  ui().click("recovery.later");
  start();
  EXPECT_EQ(settles(), 1u) << "an answer was given";
  start();
  EXPECT_EQ(settles(), 1u) << "the picture was drawn to its end";
}

TEST_F(Unsaved, RecoveryCanBeDiscardedOrPostponed) {
  edit("left");
  end();
  start();
  ASSERT_EQ(ui().dialog(), "recovery");
  ui().click("recovery.later");
  EXPECT_EQ(ui().dialog(), "");
  ui().view().request("scene.recover");
  ui().draw();
  EXPECT_EQ(ui().dialog(), "recovery") << "it can be had back later, too";
  ui().key(Key::escape);
  end();
  start();
  ASSERT_EQ(ui().dialog(), "recovery") << "Escape is no answer";
  ui().click("recovery.discard");
  ui().draw();
  EXPECT_EQ(ui().dialog(), "");
  end();
  start();
  EXPECT_EQ(ui().dialog(), "");
  ui().view().request("scene.recover");
  ui().draw();
  EXPECT_THAT(ui().view().messages.notice, HasSubstr("no unsaved work"));
}

TEST_F(Unsaved, OffersRecoveryOfSeveralWindowsInTurn) {
  for (const char* text : {"first", "second"}) {
    app::RecoveryStore other(folder_ / "recovery");
    Scene scene = app::openingScene();
    scene.setup.input.text = text;
    other.note({{path("gone.json"), std::make_shared<const Scene>(scene)}});
    ASSERT_TRUE(
        other.write(app::RecoveryStore::Clock::now() - std::chrono::hours(text[0] == 'f' ? 2 : 1)).ok());
  }
  start();
  ASSERT_EQ(ui().dialog(), "recovery");
  ui().click("recovery.restore");
  ui().draw();
  EXPECT_EQ(own().setup.input.text, "second") << "the newest first";
  ASSERT_EQ(ui().dialog(), "recovery");
  ui().click("recovery.discard");
  ui().draw();
  EXPECT_THAT(unsavedTexts(), ElementsAre("second"));
}

TEST_F(Unsaved, ReportsUnreadableRecoveryAndKeepsScene) {
  end();
  std::filesystem::create_directories(folder_ / "recovery");
  putFile(folder_ / "recovery" / "1-0.json", "{\"half\":");
  start();
  ASSERT_EQ(ui().dialog(), "recovery");
  EXPECT_FALSE(ui().has("recovery.restore"));
  ui().click("recovery.discard");
  ui().draw();
  putFile(
      folder_ / "recovery" / "1-0.json",
      R"({"format": "headscope recovery", "version": 1, "time": 5, "scenes": [{"path": "x.json", "scene": 7}]})");
  start();
  ASSERT_EQ(ui().dialog(), "recovery");
  ui().click("recovery.restore");
  ui().draw();
  EXPECT_THAT(ui().view().messages.error, HasSubstr("x.json"));
  EXPECT_EQ(own().setup, app::openingScene().setup);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "recovery" / "1-0.json")) << "it is not thrown away";
}

}  // namespace
}  // namespace headscope::test
