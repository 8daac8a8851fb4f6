// Opening a model: from a dropped folder, from the dialog, and folders without a model.

#include <gtest/gtest.h>

#include "app/pages/model/model_page.h"
#include "app/platform/preferences.h"
#include "app/scene/scene_json.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using attention::test::goldenModel;

class ModelOpening : public testing::Test {
 protected:
  ModelOpening() { app::saveRecent({}); }  // clears entries of earlier tests
  void open(const std::string& family) { ui.drop({goldenModel(family).string()}); }

  UiDriver ui;
};

TEST_F(ModelOpening, OpensDroppedFolder) {
  open("qwen2");
  ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  EXPECT_EQ(ui.scene().cursor.page, "model");
  const auto& config = ui.scene().setup.subject.opened->config();
  EXPECT_EQ(std::ssize(ui.names("model.0.")), config.heads);
  EXPECT_EQ(ui.scene().setup.model.heads, config.heads);
  EXPECT_TRUE(ui.scene().setup.mask.layers.empty()) << "only the model's own mask";
  ui.chord(kCtrl, Key::z);
  EXPECT_FALSE(ui.scene().setup.subject.opened) << "opening is one step of undo";
}

TEST_F(ModelOpening, DialogOpensFolderByPathOrFromInside) {
  ui.chord({.ctrl = true, .shift = true}, Key::o);
  ui.replaceText("files.path", goldenModel("llama").parent_path().string()).key(Key::enter);
  EXPECT_EQ(ui.dialog(), "Open a model") << "a folder without config.json is entered";
  ui.click("files.ok");
  EXPECT_EQ(ui.dialog(), "Open a model") << "and is no model";
  ui.click("file.llama").click("files.ok");
  ASSERT_TRUE(ui.scene().setup.subject.opened);
  EXPECT_EQ(ui.dialog(), "");
  const app::Scene llama = ui.scene();
  ui.chord({.ctrl = true, .shift = true}, Key::o);
  ui.replaceText("files.path", goldenModel("gpt2").string()).key(Key::enter);
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_NE(ui.scene().setup.subject.opened, llama.setup.subject.opened);
}

TEST_F(ModelOpening, RefusesFolderWithoutModel) {
  TemporaryFolder folder;
  const std::string before = ui.sceneText();
  ui.drop({folder.path().string()});
  EXPECT_THAT(ui.view().messages.error, HasSubstr("config.json"));
  EXPECT_EQ(ui.sceneText(), before);
}

TEST_F(ModelOpening, ReportsMissingFolderAndOpensAnother) {
  TemporaryFolder folder;
  app::Scene scene = app::openingScene();
  scene.setup.subject.model = (folder / "nowhere").string();
  scene.cursor.page = "model";
  ASSERT_TRUE(app::writeScene(folder / "s.json", scene).ok());
  ui.drop({(folder / "s.json").string()});
  EXPECT_THAT(*ui.session().error(), HasSubstr("nowhere"));
  ui.find("empty.model.learned");
  open("gpt2");
  EXPECT_TRUE(ui.scene().setup.subject.opened);
}

}  // namespace
}  // namespace headscope::test
