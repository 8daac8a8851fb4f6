// Pictures of what a page shows, saved through the dialog.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "app/platform/ui_state.h"
#include "app/session_figure.h"
#include "render/image.h"
#include "test_paths.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

class Pictures : public testing::Test {
 protected:
  std::string path(const std::string& name) { return (folder / name).string(); }
  void answer(const std::string& name) { ui.replaceText("files.path", path(name)).key(Key::enter); }
  /// The same, until it is written.
  void answerAndWait(const std::string& name) {
    ui.session().exports().program = HEADSCOPE_BINARY;  // which films are made by
    answer(name);
    EXPECT_EQ(ui.dialog(), "");
    for (int i = 0; i < 30000 && ui.view().messages.notice.find("Saved " + name) == std::string::npos &&
                    ui.view().messages.error.empty();
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      painter.step(ui.session());
      ui.frames(1);
    }
    EXPECT_EQ(ui.view().messages.error, "");
  }
  TemporaryFolder folder;
  UiDriver ui;
  app::FigurePainter painter{app::defaultLimits(), [] {}};
};

TEST_F(Pictures, CtrlPSavesWhatThePageShows) {
  const auto saved = [&](const std::string& name) {
    ui.chord(kCtrl, Key::p);
    EXPECT_EQ(ui.dialog(), "Save a picture");
    answerAndWait(name);
    return fileText(folder / name);
  };
  const std::string heads = saved("heads.svg");
  for (int head = 0; head < 8; ++head) EXPECT_THAT(heads, HasSubstr(">Head " + std::to_string(head) + "<"));
  ui.click("head.3");
  const std::string head = saved("head.svg");
  EXPECT_THAT(head, HasSubstr(">Head 3<"));
  EXPECT_EQ(head.find(">Head 4<"), std::string::npos);
  EXPECT_GT(render::decodePng(fileBytes((saved("head.png"), folder / "head.png"))).width, 800);
  ui.key(static_cast<Key>('2'));
  EXPECT_THAT(saved("mask.svg"), HasSubstr(">causal &amp; padding<"));
  ui.key(static_cast<Key>('3'));
  EXPECT_THAT(saved("map.svg"), HasSubstr("12 × 12 tokens"));
  ui.key(static_cast<Key>('4'));
  EXPECT_THAT(saved("cache.svg"), HasSubstr(">GQA (2 kv heads) is ¼ of MHA.<"));
  ui.key(static_cast<Key>('5'));
  EXPECT_THAT(saved("cost.svg"), HasSubstr(">KV cache of Llama-3.1-70B at 128 k tokens × batch 1<"));
  EXPECT_GT(render::decodePng(fileBytes((saved("cost.png"), folder / "cost.png"))).width, 2000);
}

TEST_F(Pictures, ThePageIsSavedAsItIsShown) {
  const auto saved = [&](const std::string& name) {
    ui.request("picture.save_shown");
    EXPECT_EQ(ui.dialog(), "Save a picture");
    answer(name);
    ui.draw();
    EXPECT_THAT(ui.view().messages.notice, HasSubstr("Saved " + name)) << ui.view().messages.error;
    return fileText(folder / name);
  };
  EXPECT_THAT(saved("heads.svg"),
              testing::AllOf(HasSubstr(">Head 3<"), HasSubstr(">Undo<"), HasSubstr(">Lessons<")));
  ui.session().scene().cursor.page = "lab";
  ui.draw();
  EXPECT_THAT(saved("lab.svg"), HasSubstr(">Every query meets every key<"));
  EXPECT_THAT(saved("lab.pdf"), testing::StartsWith("%PDF"));
  // Ctrl+P saves its picture alone.
  ui.chord(kCtrl, Key::p);
  answerAndWait("again.svg");
  EXPECT_THAT(fileText(folder / "again.svg"), testing::Not(HasSubstr(">Undo<")));
}

TEST_F(Pictures, AFigureThatIsStoppedIsNotWritten) {
  ui.chord(kCtrl, Key::p);
  answer("stopped.svg");
  painter.step(ui.session());
  ASSERT_NE(ui.view().figureWanted, nullptr);
  ui.view().request("edit.stop");
  ui.frames(2);
  EXPECT_EQ(ui.view().figureWanted, nullptr);
  for (int i = 0; i < 3000 && std::isfinite(painter.nextStepIn(ui.view())); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    painter.step(ui.session());
  }
  ui.draw();
  EXPECT_EQ(folder.count(), 0u);
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("not written"));
}

TEST_F(Pictures, AFilmIsRecordedBesideTheWindow) {
  ui.session().scene().setup.input.text = "a b";
  ui.draw();
  app::uiState().watches = true;
  ui.request("film.record");
  ASSERT_EQ(ui.dialog(), "record");
  for (const char* control : {"record.file", "record.cancel"})
    EXPECT_TRUE(app::uiState().clips.at(control).seen.Contains(app::uiState().tracks.at(control)))
        << control << " is cut off";
  ui.click("record.kind.PNG frames").click("record.file");
  answerAndWait("film.frames");
  EXPECT_TRUE(std::filesystem::exists(folder / "film.frames" / "frame-00024.png"));
}

TEST_F(Pictures, AnotherEndingIsRefusedInASentence) {
  ui.chord(kCtrl, Key::p);
  answer("heads.jpg");
  EXPECT_EQ(folder.count(), 0u);
  ui.key(Key::escape);
  ui.view().requests.emplace_back("picture.save_cache");
  ui.draw();
  ASSERT_EQ(ui.dialog(), "Save a picture");
  answerAndWait("cache.png");
  EXPECT_GT(render::decodePng(fileBytes(folder / "cache.png")).width, 800);
}

}  // namespace
}  // namespace headscope::test
