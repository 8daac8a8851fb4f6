// The file dialog with a slow disk, and the outcomes of the files it is used to choose.

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/platform/track.h"
#include "app/scene/scene_json.h"
#include "app/widgets/dialog.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::FilePicker;
using app::Key;
using app::Outcome;

/// Queries for paths that contain "hung" block until answer(); all others return at once.
struct HungDisk {
  std::mutex mutex;
  std::condition_variable changed;
  bool answers = false;

  void answer() {
    const std::lock_guard lock(mutex);
    answers = true;
    changed.notify_all();
  }
};

class Folders : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder / "hung");
    std::filesystem::create_directory(folder / "quick");
    for (const char* name : {"hung/slow.json", "quick/fast.json", "here.json"})
      ASSERT_TRUE(app::writeScene(folder / name, app::openingScene()).ok());
    ui.session().services().folders.last = folder.path();
    ui.session().services().folders.findWith([disk = disk](const app::PathQuestion& question,
                                                           std::stop_token stop,
                                                           std::atomic<std::size_t>& seen) {
      if (question.path.string().find("hung") != std::string::npos) {
        seen = 12400;
        std::unique_lock lock(disk->mutex);
        disk->changed.wait(lock, [&] { return disk->answers; });
      }
      return app::findPath(question, stop, seen);
    });
    ui.chord(kCtrl, Key::o);
    ASSERT_TRUE(ui.has("file.hung"));
  }
  void TearDown() override { disk->answer(); }

  // The driver's own functions wait for everything that is running. These don't:
  void clickAndGoOn(const std::string& name) {
    const ImVec2 middle = app::tracked(name).value().GetCenter();
    app::InputEvent event;
    event.x = middle.x;
    event.y = middle.y;
    ui.app().input().push(event);
    ui.wait(0.5);  // so that two clicks aren't a double click
    event.kind = app::InputEvent::Kind::mouseButton;
    for (const bool down : {true, false}) {
      event.down = down;
      ui.app().input().push(event);
      ui.frames(2);
    }
  }
  void keyAndGoOn(Key key, app::Mods mods = {}) {
    for (const bool down : {true, false}) ui.pushKey(key, mods, down);
    ui.pushKey(Key::none, {}, false).frames(4);
  }
  /// Draws frames at screen rate until the control appears. Returns false if it never does.
  bool comes(const std::string& name) {
    for (int i = 0; i < 6000 && !ui.has(name); ++i) {
      ui.frames(1);
      std::this_thread::sleep_for(std::chrono::milliseconds(16));
    }
    return ui.has(name);
  }
  const FilePicker& picker() { return dynamic_cast<const FilePicker&>(*ui.view().dialog); }

  TemporaryFolder folder;
  std::shared_ptr<HungDisk> disk = std::make_shared<HungDisk>();
  UiDriver ui;
};

TEST_F(Folders, SlowFolderBlocksNothingAndCanBeStopped) {
  clickAndGoOn("file.hung");
  EXPECT_TRUE(ui.has("file.here.json")) << "what was there stays";
  EXPECT_FALSE(ui.has("files.reading")) << "nothing is said of what is quick";
  EXPECT_LT(ui.session().nextFrameIn(), 0.5) << "so that the wait is said without the pointer's help";
  ASSERT_TRUE(comes("files.reading"));
  clickAndGoOn("files.stop");
  EXPECT_FALSE(ui.has("files.reading"));
  EXPECT_TRUE(ui.has("file.here.json"));
  ui.click("file.quick");
  EXPECT_TRUE(ui.has("file.fast.json"));
  disk->answer();
  ui.wait(0.2);
  EXPECT_TRUE(ui.has("file.fast.json")) << "an answer that nobody waits for changes nothing";
}

TEST_F(Folders, ShowsSlowFolderOnceItIsRead) {
  clickAndGoOn("file.hung");
  ASSERT_TRUE(comes("files.reading"));
  disk->answer();
  EXPECT_TRUE(comes("file.slow.json"));
  EXPECT_FALSE(ui.has("files.reading"));
}

TEST_F(Folders, EnteringAnotherFolderReplacesSlowOne) {
  clickAndGoOn("file.hung");
  clickAndGoOn("file.quick");
  EXPECT_TRUE(comes("file.fast.json"));
}

TEST_F(Folders, TypingAnotherNameReplacesSlowOne) {
  ui.click("files.path").type((folder / "hung/slow.json").string());
  keyAndGoOn(Key::enter);
  ASSERT_NE(ui.view().dialog, nullptr);
  ASSERT_TRUE(comes("files.reading"));
  clickAndGoOn("files.path");  // Enter removed the keyboard focus
  keyAndGoOn(Key::backspace);
  EXPECT_FALSE(ui.has("files.reading"));
  ui.chord(kCtrl, Key::a).type("here.json").key(Key::enter);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("here.json"));
}

TEST_F(Folders, ClosingAndQuittingDoNotWaitForFolder) {
  clickAndGoOn("file.hung");
  keyAndGoOn(Key::escape);
  EXPECT_EQ(ui.dialog(), "");
  ui.chord(kCtrl, Key::o);
  EXPECT_TRUE(ui.has("file.here.json"));
  clickAndGoOn("file.hung");
  EXPECT_TRUE(ui.session().stop());
}

TEST_F(Folders, DeletedFolderCanBeLeft) {
  std::filesystem::remove_all(folder / "quick");
  ui.click("file.quick");
  EXPECT_FALSE(ui.has("file.here.json"));
  ui.click("files.up");
  EXPECT_TRUE(ui.has("file.here.json"));
}

/// A dialog whose files have no outcome until the test provides one.
class Outcomes : public Folders {
 protected:
  void SetUp() override {
    Folders::SetUp();
    ui.view().dialog = std::make_shared<FilePicker>(
        app::FileQuestion{"A question",
                          {".json"},
                          "",
                          [this](app::Scene&, const std::filesystem::path&, const Outcome& outcome) {
                            told.push_back(outcome);
                          }},
        ui.session().services().folders);
    ui.draw();
    choose();
  }
  void choose() { ui.replaceText("files.path", "here.json").key(Key::enter); }

  std::vector<Outcome> told;
};

TEST_F(Outcomes, UnrelatedMessagesDoNotCloseDialog) {
  ASSERT_EQ(told.size(), 1u);
  ui.view().say("Saved something else");
  ui.draw();
  EXPECT_EQ(ui.dialog(), "A question");
  ui.view().messages.fail("Something else failed");
  ui.draw();
  EXPECT_EQ(ui.dialog(), "A question");
  EXPECT_EQ(picker().refused(), "");
  EXPECT_EQ(ui.view().messages.error, "Something else failed");
  told[0].done("Opened here.json");
  ui.draw();
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(ui.view().messages.notice, "Opened here.json");
}

TEST_F(Outcomes, FailureIsShownBesideNameAndCanBeRetried) {
  told.at(0).fail("here.json holds nothing");
  ui.draw();
  EXPECT_EQ(picker().refused(), "here.json holds nothing");
  EXPECT_TRUE(ui.has("files.refused"));
  EXPECT_EQ(ui.view().messages.error, "") << "said once";
  choose();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(picker().refused(), "");
  told[1].done();
  ui.draw();
  EXPECT_EQ(ui.dialog(), "");
}

TEST_F(Outcomes, StatusLineShowsOutcomeAfterDialogCloses) {
  ui.click("files.cancel");
  EXPECT_EQ(ui.dialog(), "");
  told.at(0).fail("here.json holds nothing");
  ui.draw();
  EXPECT_EQ(ui.view().messages.error, "here.json holds nothing");
  EXPECT_TRUE(ui.visible("error"));
}

TEST_F(Outcomes, OutcomeOfClosedDialogDoesNotAffectNext) {
  ui.click("files.cancel").chord(kCtrl, Key::o);
  told.at(0).done("Opened here.json");
  ui.draw();
  EXPECT_EQ(ui.dialog(), "Open a scene");
}

}  // namespace
}  // namespace headscope::test
