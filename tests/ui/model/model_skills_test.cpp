// The learned skills that the files of the bundled model and of another model list.

#include <gtest/gtest.h>

#include "app/pages/model/model_page.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

TEST(ModelActions, ExampleTextActionsExistOnceFileIsRead) {
  UiDriver ui;
  ui.draw();
  EXPECT_NO_THROW(ui.session().actions().find("model.example.it"));
  EXPECT_NO_THROW(ui.session().actions().find("model.words"));
}

/// A folder may contain scores.json with its own skill names, for which there are no actions.
TEST(ModelActions, SkillsOfAnotherModelOpenTheirTexts) {
  UiDriver ui;
  TemporaryFolder folder;
  std::filesystem::copy(app::modelFolder(app::kLearned), folder / "own",
                        std::filesystem::copy_options::recursive);
  std::string scores = fileText(folder / "own" / "scores.json");
  scores.replace(scores.find("\"it\""), 4, "\"own\"");
  putFile(folder / "own" / "scores.json", scores);
  ui.drop({(folder / "own").string()});
  ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  ui.click("skill.0");
  EXPECT_THAT(*ui.scene().setup.input.text, HasSubstr("The dog didn't cross the bridge"));
  ui.replaceText("text", "Zyzzyva");
  EXPECT_TRUE(ui.has("words.unknown"));
  EXPECT_FALSE(ui.has("words.list")) << "those are the bundled model's";
}

}  // namespace
}  // namespace headscope::test
