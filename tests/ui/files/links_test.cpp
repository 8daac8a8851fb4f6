// Links: copied from the window, opened in it, and faulty ones.

#include <gtest/gtest.h>

#include "app/scene/links/link.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

class Links : public testing::Test {
 protected:
  /// The text in the clipboard.
  static std::string copied() {
    const char* clip = ImGui::GetClipboardText();
    return clip ? clip : "";
  }
  void act(const std::string& action) { ui.request(action); }
  void paste(const std::string& text) {
    ImGui::SetClipboardText(text.c_str());
    ui.clickAway().chord(kCtrl, Key::v);
  }

  UiDriver ui;
};

TEST_F(Links, CopiedLinkOpensAsUndoableStep) {
  ui.typeValue("softcap", "12.5");
  act("page.mask");
  const std::string made = ui.sceneText(), page = ui.scene().cursor.page;
  act("link.copy");
  const std::string link = copied();
  EXPECT_THAT(link, StartsWith("headscope:#scene="));
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("Copied a link"));

  act("scene.reset");
  ASSERT_NE(ui.sceneText(), made);
  const std::string before = ui.sceneText();
  paste(link);
  EXPECT_EQ(ui.sceneText(), made);
  EXPECT_EQ(ui.scene().cursor.page, page);
  EXPECT_FALSE(ui.session().document().dirty() && ui.session().document().path() != "");
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(ui.scene().setup, app::openingScene().setup);
  ui.chord(kCtrlShift, Key::z);
  EXPECT_EQ(ui.scene().setup.model.softcap, 12.5F);
}

TEST_F(Links, ReportsInvalidLinksAndKeepsScene) {
  const std::string before = ui.sceneText();
  for (const std::string& text :
       {std::string("a table\t1\t2"), std::string("headscope:#scene=AXja"), std::string("#lesson=06&step=x"),
        "#scene=" + app::packText("{}", app::kLinkVersion + 1),
        "#scene=" + app::packText(R"({"cursor.page": "nowhere"})", app::kLinkVersion)}) {
    paste(text);
    EXPECT_NE(ui.view().messages.error, "") << text;
    EXPECT_EQ(ui.sceneText(), before) << text;
    EXPECT_FALSE(ui.session().document().canUndo());
  }
}

TEST_F(Links, LessonLinkOpensStepAndKeepsOwnScene) {
  ui.typeValue("softcap", "12.5");
  const app::Setup own = ui.session().document().scene().setup;
  paste("https://example.org/headscope.html#lesson=06&step=2");
  const app::Scene& scene = ui.session().document().scene();
  EXPECT_EQ(scene.cursor.lesson.lesson, "shared_heads");
  EXPECT_EQ(scene.cursor.lesson.step, 1);
  EXPECT_EQ(scene.setup, own);
  act("link.copy");
  EXPECT_EQ(copied(), "headscope:#lesson=shared_heads&step=2");
}

TEST_F(Links, LongLinkShowsWarning) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "word" + std::to_string(i * 7919 % 10007) + " ";
  ui.session().scene().setup.input.text = text;
  ui.draw();
  act("link.copy");
  EXPECT_GT(copied().size(), app::kLongLink);
  EXPECT_THAT(ui.view().messages.notice, HasSubstr("some programs cut links"));
  ui.click("menu.scene.save_as");
  EXPECT_EQ(ui.dialog(), "Save the scene");
}

TEST_F(Links, RefusesLinkForSceneWithFiles) {
  ImGui::SetClipboardText("before");
  ui.session().scene().setup.weights.file = "/somewhere/w.safetensors";
  act("link.copy");
  EXPECT_EQ(copied(), "before");
  EXPECT_THAT(ui.view().messages.error, HasSubstr("/somewhere/w.safetensors"));
}

}  // namespace
}  // namespace headscope::test
