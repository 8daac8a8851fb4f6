// Files that arrive late: their contents go only to the document for which they were requested.

#include <future>
#include <thread>

#include "app/scene/models/open_model.h"
#include "app/scene/scene_json.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/lessons/lessons_support.h"

namespace headscope::test {
namespace {

using app::Key;
using app::Scene;

/// A hidden page with a file that takes as long as the test says.
class SlowDisk : public app::Page {
 public:
  explicit SlowDisk(app::PageServices& services) : services_(services) {}
  void draw(Scene&, const app::Layout&) override {}
  void ask(const Scene&) override {}
  app::PageStatus status(const Scene&) const override { return {}; }

  void hold() {
    held_ = {};
    services_.files.read<int>(
        "slow",
        [held = held_.get_future().share()] {
          held.wait();
          return attention::Result<int>(1);
        },
        [](attention::Result<int>) {});
  }
  void letGo() { held_.set_value(); }

 private:
  app::PageServices& services_;
  std::promise<void> held_;
};

const std::vector<app::PageRow>& rows() {
  static const std::vector<app::PageRow> all = [] {
    std::vector<app::PageRow> rows(app::pageTable().begin(), app::pageTable().end());
    rows.push_back({{"slow", "Slow disk", {}, "Go to the slow disk", "", ""},
                    [](app::PageServices& services) -> std::unique_ptr<app::Page> {
                      return std::make_unique<SlowDisk>(services);
                    }});
    return rows;
  }();
  return all;
}

class LateFiles : public testing::Test {
 protected:
  LateFiles() {
    ui.draw();
    // Opens the lessons page once, so that its list is loaded before the tests request anything.
    ui.key(static_cast<Key>('9')).key(static_cast<Key>('1'));
  }

  SlowDisk& disk() { return ui.session().page<SlowDisk>(); }
  const app::lessons_page::State& lessons() { return ui.session().page<app::lessons_page::Page>().state(); }
  const Scene& own() { return ui.session().document().scene(); }
  /// Presses a key without waiting for files, because the disk may be blocked.
  void press(Key key, app::Mods mods = {}) {
    ui.pushKey(key, mods, true).pushKey(key, mods, false).frames(3);
  }
  void ask(const std::string& action) {
    ui.view().request(action);
    ui.frames(1);
  }
  void drop(const std::string& path) {
    app::InputEvent event;
    event.kind = app::InputEvent::Kind::drop;
    event.paths = {path};
    ui.app().input().push(event);
    ui.frames(2);
  }
  void openLesson() {
    press(static_cast<Key>('9'));
    if (!lessons().here.lesson) {
      const_cast<Scene&>(own()).cursor.lesson = {"why_scale", 0, -1, false};
      ui.frames(2);
    }
    ASSERT_TRUE(lessons().here.lesson && lessons().stage.document);
  }
  void letGo() {
    disk().letGo();
    ui.draw();
  }
  static bool isLearned(const Scene& scene) { return scene.setup.subject.model == app::kLearned; }

  const TemporaryFolder folder;
  UiDriver ui{1280, 720, 1, rows()};
};

TEST_F(LateFiles, ModelOpensInOwnSceneBelowLesson) {
  disk().hold();
  ask("model.learned");
  ASSERT_NO_FATAL_FAILURE(openLesson());
  const std::string staged = ui.sceneText();
  letGo();
  EXPECT_EQ(ui.sceneText(), staged) << "the lesson's scene is as it was";
  EXPECT_FALSE(lessons().stage.changed);
  EXPECT_EQ(own().cursor.page, "lessons") << "nobody is led away from the lesson";
  EXPECT_TRUE(isLearned(own()));
  EXPECT_THAT(ui.view().messages.error, "");
}

TEST_F(LateFiles, DropsModelRequestedByAbandonedStage) {
  ASSERT_NO_FATAL_FAILURE(openLesson());
  const std::string mine = UiDriver::textOf(own());
  disk().hold();
  ask("model.learned");
  press(Key::pageDown);
  press(Key::pageDown);
  const std::string next = ui.sceneText();
  letGo();
  EXPECT_EQ(ui.sceneText(), next);
  EXPECT_FALSE(isLearned(own()));
  EXPECT_THAT(ui.view().messages.error, HasSubstr("too late"));
}

TEST_F(LateFiles, ModelRequestedOnStageOpensOnStage) {
  ASSERT_NO_FATAL_FAILURE(openLesson());
  disk().hold();
  ask("model.learned");
  press(static_cast<Key>('1'));
  letGo();
  EXPECT_FALSE(isLearned(own())) << "the stage waits behind, and it was the stage that asked";
  EXPECT_EQ(own().cursor.page, "heads");
  press(static_cast<Key>('9'));
  ui.draw();
  EXPECT_TRUE(isLearned(ui.scene()));
}

TEST_F(LateFiles, ReplacedSceneDoesNotReceiveFile) {
  putFile(folder / "points.csv", "name,x,y\na,1,2\nb,3,4\n");
  ui.click("bias");
  disk().hold();
  drop((folder / "points.csv").string());
  press(Key::n, kCtrl);
  letGo();
  EXPECT_EQ(own().setup, app::openingScene().setup);
  EXPECT_THAT(ui.view().messages.error, HasSubstr("points.csv was read too late"));
  ui.key(Key::z, kCtrl);
  EXPECT_TRUE(own().setup.model.bias) << "what was there before is one undo away";
  drop((folder / "points.csv").string());
  ui.draw();
  EXPECT_EQ(own().setup.input.source, app::EmbeddingSource::table) << "and takes files again";
}

/// The same file is a mask in the studio and embeddings on the heads page.
TEST_F(LateFiles, DroppedFileIsReadForPageItWasDroppedOn) {
  putFile(folder / "numbers.csv", "0,1\n1,1\n");
  press(static_cast<Key>('3'));
  disk().hold();
  drop((folder / "numbers.csv").string());
  press(static_cast<Key>('1'));
  letGo();
  EXPECT_EQ(ui.dialog(), "convention");
  EXPECT_EQ(own().setup.input.source, app::EmbeddingSource::text);
}

TEST_F(LateFiles, SceneOpensUnderneathOpenLesson) {
  Scene other = app::openingScene();
  other.setup.input.text = "another text";
  ASSERT_TRUE(app::writeScene(folder / "other.json", other).ok());
  disk().hold();
  drop((folder / "other.json").string());
  ASSERT_NO_FATAL_FAILURE(openLesson());
  const std::string staged = ui.sceneText();
  letGo();
  EXPECT_EQ(ui.sceneText(), staged);
  EXPECT_EQ(own().setup.input.text, "another text");
  EXPECT_EQ(ui.session().document().name(), "other.json");
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("after the lesson"));
}

TEST_F(LateFiles, SaveMarksOnlyWrittenSceneAsSaved) {
  app::Scene stored = app::openingScene();
  ASSERT_TRUE(app::writeScene(folder / "mine.json", stored).ok());
  drop((folder / "mine.json").string());
  ui.draw().click("bias");
  disk().hold();
  press(static_cast<Key>('S'), kCtrl);
  ASSERT_NO_FATAL_FAILURE(openLesson());
  const_cast<Scene&>(ui.scene()).setup.input.text = "on the stage";
  ui.frames(1);
  letGo();
  EXPECT_FALSE(ui.session().document().dirty());
  EXPECT_TRUE(lessons().stage.changed) << "the stage was not saved";
  EXPECT_TRUE(app::readScene(folder / "mine.json")->setup.model.bias);
}

/// The drawing thread writes nothing.
TEST_F(LateFiles, FilesThreadWritesPreferences) {
  const auto written = [] { return app::loadPreferences().light; };
  ASSERT_TRUE(attention::MergedFile().write(app::preferencesPath(), app::formatPreferences({})).ok());
  const bool before = ui.view().preferences.light;
  disk().hold();
  ask("appearance.theme");
  ask("appearance.theme");
  ask("appearance.theme");
  EXPECT_NE(ui.view().preferences.light, before);
  ui.frames(5);
  EXPECT_NE(written(), !before) << "the disk is busy";
  ui.session().closing().request();
  // Pending writes finish first, even while the disk is busy with a read.
  for (int tries = 0; tries < 5000 && !ui.session().closing().done(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(ui.session().closing().done());
  EXPECT_EQ(written(), !before);
  disk().letGo();
}

}  // namespace
}  // namespace headscope::test
