// The page Model when no model is open: it shows the bundled one and leaves the scene unchanged.

#include <gtest/gtest.h>

#include "app/pages/model/model_page.h"
#include "app/platform/preferences.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using attention::Index;

class ExampleModel : public testing::Test {
 protected:
  ExampleModel() {
    app::saveRecent({});
    ui.key(static_cast<Key>('7'));
    own = ui.scene().setup;
  }
  const app::model_page::State& page() { return ui.session().page<app::model_page::Page>().state(); }

  UiDriver ui;
  app::Setup own;
};

TEST_F(ExampleModel, IsShownAtOnceWithoutChangingScene) {
  ASSERT_TRUE(page().ready());
  EXPECT_EQ(page().model.opened->name, "Miniature");
  EXPECT_EQ(std::ssize(ui.names("model.0.")), page().model.config->heads);
  EXPECT_TRUE(ui.has("guess.0"));
  EXPECT_TRUE(ui.has("model.open")) << "one's own can be opened beside it";
  ui.park();
  for (int layer = 0; layer < 3; ++layer) ui.key(Key::down);
  const Index before = ui.scene().cursor.cell.head;
  ui.key(Key::right);
  EXPECT_EQ(ui.scene().cursor.model.layer, 3);
  EXPECT_EQ(ui.scene().cursor.cell.head, before + 1) << "what is looked at is the scene's";
  EXPECT_EQ(ui.scene().setup, own);
  EXPECT_FALSE(ui.session().document().canUndo());
  EXPECT_FALSE(ui.session().document().dirty());
  ui.session().scene().cursor.page = "heads";
  ui.draw();
  EXPECT_EQ(ui.snapshot().config.heads, 8) << "other pages have the layer made here";
}

TEST_F(ExampleModel, PresentedLongTextShowsStartAndSelectedToken) {
  ui.request("model.learned");
  std::string text = "The old man";
  for (int i = 0; i < 40; ++i) text += " saw the other dog and";
  ui.session().scene().setup.input.text = text;
  ui.view().present = true;
  const auto shows = [&](Index token) {
    ui.session().scene().cursor.cell.query = token;
    ui.draw();
    return ui.has("strip.0") && ui.has("strip.1") && ui.has("strip." + std::to_string(token));
  };
  ui.draw();
  const Index last = page().tokens() - 1;
  ASSERT_GT(last, 100);
  EXPECT_TRUE(shows(last / 2));
  EXPECT_FALSE(ui.has("strip.20"));
  EXPECT_FALSE(ui.has("strip." + std::to_string(last)));
  EXPECT_TRUE(shows(last));
  EXPECT_TRUE(shows(0));
}

TEST_F(ExampleModel, BecomesSceneModelOnFirstChange) {
  const std::pair<const char*, void (*)(UiDriver&)> kChanges[] = {
      {"a head", [](UiDriver& ui) { ui.key(Key::x); }},
      {"the text", [](UiDriver& ui) { ui.replaceText("text", "The dog ran"); }},
      {"per token", [](UiDriver& ui) { ui.key(Key::period); }},
      {"a mask", [](UiDriver& ui) { ui.click("window"); }},
      {"an example text", [](UiDriver& ui) { ui.click("skill.1"); }},
      {"its layer on Heads", [](UiDriver& ui) { ui.key(Key::enter); }},
      {"asked for", [](UiDriver& ui) { ui.click("empty.model.learned"); }}};
  for (const auto& [name, change] : kChanges) {
    SCOPED_TRACE(name);
    change(ui);
    ui.clickAway().wait(2).draw();
    EXPECT_EQ(ui.scene().setup.subject.model, app::kLearned);
    EXPECT_TRUE(ui.scene().setup.subject.opened);
    EXPECT_TRUE(ui.session().document().canUndo());
    while (ui.session().document().canUndo()) ui.chord(kCtrl, Key::z);
    ui.session().scene().cursor.page = "model";
    ui.draw();
    EXPECT_EQ(ui.scene().setup, own);
    EXPECT_TRUE(page().model.example) << "it is an example again";
  }
}

TEST_F(ExampleModel, UsesItsOwnTextForUnknownWords) {
  ui.session().scene().setup.input.text = "Zyzzyva quokka";
  ui.draw();
  ASSERT_TRUE(page().ready());
  const std::string shown = page().study->question.setup.input.text;
  EXPECT_THAT(shown, HasSubstr("The dog didn't cross the bridge"));
  EXPECT_EQ(*ui.scene().setup.input.text, "Zyzzyva quokka");
}

}  // namespace
}  // namespace headscope::test
