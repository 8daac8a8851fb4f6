// Pictures of a page, films and handouts, saved through the dialog.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <thread>

#include "app/platform/ui_state.h"
#include "app/scene/talk.h"
#include "app/session/figures.h"
#include "test_paths.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

class Pictures : public testing::Test {
 protected:
  std::string path(const std::string& name) { return (folder / name).string(); }
  void answer(const std::string& name) { ui.replaceText("files.path", path(name)).key(Key::enter); }
  /// Answers the dialog and waits until the file is written.
  void answerAndWait(const std::string& name) {
    ui.session().exports().program = HEADSCOPE_BINARY;  // the program that records films
    answer(name);
    EXPECT_EQ(ui.dialog(), "");
    wait(name);
    EXPECT_EQ(ui.view().messages.error, "");
  }
  /// Waits until the file is written or writing has failed.
  void wait(const std::string& name) {
    for (int i = 0; i < 30000 && ui.view().messages.notice.find("Saved " + name) == std::string::npos &&
                    ui.view().messages.error.empty();
         ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      painter.step(ui.session());
      ui.frames(1);
      for (const app::DrawnText& each : app::uiState().texts) said.insert(each.text);
    }
  }
  /// Stops the drawing and waits until nothing of it remains.
  void stop() {
    ui.view().request("edit.stop");
    ui.frames(2);
    EXPECT_EQ(ui.view().figureWanted, nullptr);
    for (int i = 0; i < 3000 && std::isfinite(painter.nextStepIn(ui.view())); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      painter.step(ui.session());
    }
    ui.draw();
  }
  TemporaryFolder folder;
  UiDriver ui;
  app::FigurePainter painter{app::defaultLimits(), [] {}};
  std::set<std::string> said;  ///< texts seen while waiting, if texts are watched
};

TEST_F(Pictures, CtrlPSavesThePagesPicture) {
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
  EXPECT_GT(decodePng(fileBytes((saved("head.png"), folder / "head.png"))).width, 800);
  ui.key(static_cast<Key>('3'));
  EXPECT_THAT(saved("mask.svg"), HasSubstr(">causal &amp; padding<"));
  ui.key(static_cast<Key>('4'));
  EXPECT_THAT(saved("map.svg"), HasSubstr("12 × 12 tokens"));
  ui.key(static_cast<Key>('5'));
  EXPECT_THAT(saved("cache.svg"), HasSubstr(">GQA (2 kv heads) is ¼ of MHA.<"));
  ui.key(static_cast<Key>('6'));
  EXPECT_THAT(saved("cost.svg"), HasSubstr(">KV cache of Llama-3.1-70B at 128 k tokens × batch 1<"));
  EXPECT_GT(decodePng(fileBytes((saved("cost.png"), folder / "cost.png"))).width, 2000);
}

TEST_F(Pictures, SavesThePageAsShown) {
  const auto saved = [&](const std::string& name) {
    ui.request("picture.save_shown");
    EXPECT_EQ(ui.dialog(), "Save a picture");
    answer(name);
    ui.draw();
    EXPECT_THAT(ui.view().messages.notice, HasSubstr("Saved " + name)) << ui.view().messages.error;
    return fileText(folder / name);
  };
  EXPECT_THAT(saved("heads.svg"),
              testing::AllOf(HasSubstr(">Head 3<"), HasSubstr(">Undo<"), HasSubstr(">Learn<")));
  ui.session().scene().cursor.page = "flow";
  ui.draw();
  EXPECT_THAT(saved("flow.svg"), HasSubstr(">Every query meets every key<"));
  EXPECT_THAT(saved("flow.pdf"), testing::StartsWith("%PDF"));
  // Ctrl+P saves only the page's picture.
  ui.chord(kCtrl, Key::p);
  answerAndWait("again.svg");
  EXPECT_THAT(fileText(folder / "again.svg"), testing::Not(HasSubstr(">Undo<")));
}

TEST_F(Pictures, StoppedFigureIsNotWritten) {
  ui.chord(kCtrl, Key::p);
  answer("stopped.svg");
  painter.step(ui.session());
  ASSERT_NE(ui.view().figureWanted, nullptr);
  stop();
  EXPECT_EQ(folder.count(), 0u);
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("stopped.svg was not written"));
}

TEST_F(Pictures, RecordsAFilmAsPngFrames) {
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

class Handouts : public Pictures {
 protected:
  /// Opens a lesson of three steps; `last` is the text of the last one.
  void openLesson(const std::string& last) {
    std::ofstream(lessons / "mine.json") << R"({"format": "headscope lesson", "version": 1, "id": "mine",
      "title": "Mine", "minutes": 1, "steps": [
        {"id": "one", "title": "One", "text": "A weight of {W[0][7][6]:.2}."},
        {"id": "two", "title": "Two", "text": "Two keys.", "question": {"ask": "Which is it?", "options": [
          {"text": "This one", "true_if": "1", "why": "It is."},
          {"text": "That one", "true_if": "0", "why": "It is not."}]}},
        {"id": "three", "title": "Three", "text": ")" +
                                                last + R"("}]})";
    ui.drop({(lessons / "mine.json").string()});
    ASSERT_EQ(ui.session().document().scene().cursor.page, "lessons");
  }
  void openTalk() {
    app::Scene scene = app::openingScene();
    for (const auto& [page, name] : {std::pair("heads", "Opening words"), std::pair("mask", "Its masks")}) {
      scene.cursor.page = page;
      app::addView(scene, {name, "Say hello to all", app::viewScene(scene)},
                   static_cast<int>(scene.talk->views.size()) - 1);
    }
    scene.cursor.page = "talk";
    ui.show(scene);
  }
  void ask() {
    ui.request("handout.save");
    EXPECT_EQ(ui.dialog(), "Save a handout");
  }
  /// The text that pdftotext finds in a PDF; "" if pdftotext isn't installed.
  std::string textOf(const std::string& name) {
    std::string text;
    FILE* const pipe = ::popen(("pdftotext '" + path(name) + "' -").c_str(), "r");
    if (!pipe) return text;
    char buffer[4096];
    for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, got);
    return ::pclose(pipe) == 0 ? text : "";
  }
  TemporaryFolder lessons;
};

TEST_F(Handouts, TalkGetsOnePagePerView) {
  openTalk();
  ask();
  answerAndWait("talk.pdf");
  EXPECT_THAT(fileText(folder / "talk.pdf"), HasSubstr("/Count 2"));
  const std::string text = textOf("talk.pdf");
  if (text.empty()) GTEST_SKIP() << "pdftotext isn't installed";
  EXPECT_THAT(text, AllOf(HasSubstr("Opening words"), HasSubstr("Its masks"), HasSubstr("Say hello to all"),
                          HasSubstr("prev")));
}

TEST_F(Handouts, LessonGetsOnePagePerStepAndReportsProgress) {
  openLesson("The end.");
  app::uiState().watches = true;
  ask();
  answer("lesson.pdf");
  ui.frames(40);  // half a second in the window, after which it reports its progress
  wait("lesson.pdf");
  EXPECT_EQ(ui.view().messages.error, "");
  EXPECT_TRUE(std::ranges::any_of(said, [](const std::string& text) {
    return text.starts_with("drawing page 2 of 3 of lesson.pdf for ");
  }));
  EXPECT_THAT(fileText(folder / "lesson.pdf"), HasSubstr("/Count 3"));
  const std::string text = textOf("lesson.pdf");
  if (text.empty()) GTEST_SKIP() << "pdftotext isn't installed";
  EXPECT_THAT(text, AllOf(HasSubstr("A weight of 0.94."), HasSubstr("Which is it?"), HasSubstr("That one"),
                          HasSubstr("The end."), Not(HasSubstr("is right"))));
}

TEST_F(Handouts, StoppedHandoutIsNotWrittenAndNextWaits) {
  openTalk();
  ask();
  answer("stopped.pdf");
  painter.step(ui.session());
  ASSERT_NE(ui.view().figureWanted, nullptr);
  ask();
  answer("another.pdf");
  EXPECT_EQ(ui.dialog(), "Save a handout") << "it says why not, and stays";
  ui.key(Key::escape);
  EXPECT_EQ(ui.view().figureWanted->name, "stopped.pdf");
  ui.frames(40);
  EXPECT_TRUE(app::uiState().tracks.contains("stop")) << "the status line offers to";
  stop();
  EXPECT_EQ(folder.count(), 0u);
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("stopped.pdf was not written"));
  ask();
  answerAndWait("again.pdf");
  EXPECT_EQ(folder.count(), 1u);
}

TEST_F(Handouts, ReportsWhyALessonCannotBeComputed) {
  openLesson("It is {W[0][7][99]:.2}.");
  ask();
  answer("lesson.pdf");
  wait("lesson.pdf");
  EXPECT_THAT(ui.view().messages.error, AllOf(HasSubstr("mine.json: step three"), HasSubstr("99")));
  EXPECT_EQ(folder.count(), 0u);
}

TEST_F(Pictures, WidthAndThemeCanBeChosen) {
  const auto saved = [&](const std::string& name) {
    answerAndWait(name);
    return decodePng(fileBytes(folder / name));
  };
  ui.chord(kCtrl, Key::p).click("picture.width.1920");
  const render::Image light = saved("light.png");
  EXPECT_EQ(light.width, 1920);
  EXPECT_GT(light.rgba.front(), 200) << "figures are light";
  ui.chord(kCtrl, Key::p).click("picture.width.3840").click("picture.theme.dark");
  const render::Image dark = saved("dark.png");
  EXPECT_EQ(dark.width, 3840) << "the width of the last picture is proposed, and can be changed";
  EXPECT_LT(dark.rgba.front(), 60);
  ui.request("picture.save_shown");
  EXPECT_FALSE(ui.has("picture.theme.dark")) << "the window's theme is shown";
  answer("shown.png");
  ui.draw();
  EXPECT_EQ(decodePng(fileBytes(folder / "shown.png")).width, 3840);
}

TEST_F(Pictures, PreviewShowsWhatIsWritten) {
  const auto preview = [&] {
    for (int i = 0; i < 30000 && !ui.has("picture.preview"); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      painter.step(ui.session());
      ui.frames(1);
    }
    return ui.find("picture.preview").GetSize();
  };
  ui.chord(kCtrl, Key::p);
  const ImVec2 small = preview();
  const render::Image shown = ui.screenshot();
  ui.click("picture.theme.dark");
  EXPECT_FALSE(ui.has("picture.preview")) << "not the other theme's";
  preview();
  EXPECT_GT(pixelsApart(shown, ui.screenshot(), ui.find("picture.preview")), 1000);
  answer("preview.png");
  EXPECT_EQ(ui.view().figureWanted, nullptr) << "it was drawn for the preview";
  wait("preview.png");
  const render::Image written = decodePng(fileBytes(folder / "preview.png"));
  EXPECT_NEAR(small.x / small.y, static_cast<float>(written.width) / static_cast<float>(written.height),
              0.05f);
  // Closing the dialog ends the drawing.
  ui.chord(kCtrl, Key::p);
  EXPECT_NE(ui.view().figureWanted, nullptr);
  ui.key(Key::escape);
  EXPECT_EQ(ui.view().figureWanted, nullptr);
}

TEST_F(Pictures, DialogFitsSmallWindows) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {640, 480}}) {
    ui.resize(width, height).chord(kCtrl, Key::p);
    EXPECT_THAT(cutOff(ui), IsEmpty()) << width;
    const ImRect dialog = ui.find("dialog");
    EXPECT_TRUE(ImRect(0, 0, static_cast<float>(width), static_cast<float>(height)).Contains(dialog))
        << width;
    for (const std::string& name : ui.names("picture."))
      EXPECT_TRUE(dialog.Contains(ui.find(name))) << name << " at " << width;
    ui.key(Key::escape);
  }
}

TEST_F(Pictures, RefusesUnknownFileExtensions) {
  ui.chord(kCtrl, Key::p);
  answer("heads.jpg");
  EXPECT_EQ(folder.count(), 0u);
  ui.key(Key::escape);
  ui.view().requests.emplace_back("picture.save_cache");
  ui.draw();
  ASSERT_EQ(ui.dialog(), "Save a picture");
  answerAndWait("cache.png");
  EXPECT_GT(decodePng(fileBytes(folder / "cache.png")).width, 800);
}

}  // namespace
}  // namespace headscope::test
