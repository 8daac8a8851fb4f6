// Recently opened files: listed under Open, and offered by a window that starts without a file.

#include <gtest/gtest.h>

#include <thread>

#include "app/platform/preferences.h"
#include "app/scene/models/open_model.h"
#include "app/scene/scene_json.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using app::RecentKind;

class Recent : public testing::Test {
 protected:
  Recent() {
    app::saveRecent({});
    ui.draw();
    app::Scene scene = app::openingScene();
    scene.setup.input.text = "of the scene";
    EXPECT_TRUE(app::writeScene(scene_, scene).ok());
    app::addView(scene, {"Heads", "", app::viewScene(scene)}, -1);
    EXPECT_TRUE(app::writeScene(talk_, scene).ok());
  }
  void rememberAll() {
    for (const app::RecentFile& file :
         {app::RecentFile{RecentKind::model, model_}, {RecentKind::scene, scene_}, {RecentKind::talk, talk_}})
      app::rememberRecent(file);
  }
  void offer() {
    ui.session().startOffer().offerRecent();
    ui.draw();
  }
  const app::Scene& own() { return ui.session().document().scene(); }

  const TemporaryFolder folder;
  const std::string scene_ = (folder / "scene.json").string(), talk_ = (folder / "talk.json").string(),
                    model_ = attention::test::goldenModel("qwen2").string();
  UiDriver ui{1280, 720};
};

TEST_F(Recent, RemembersOpenedFilesByKindNewestFirst) {
  for (const std::string& path : {model_, scene_, talk_, scene_}) ui.drop({path});
  EXPECT_THAT(app::loadRecent(), ElementsAre(app::RecentFile{RecentKind::scene, scene_},
                                             app::RecentFile{RecentKind::talk, talk_},
                                             app::RecentFile{RecentKind::model, model_}));
  for (int i = 0; i < 9; ++i) app::rememberRecent({RecentKind::scene, "/" + std::to_string(i)});
  EXPECT_EQ(app::loadRecent(RecentKind::scene).size(), app::kRecentOfAKind);
  EXPECT_THAT(app::loadRecent(RecentKind::model), ElementsAre(model_)) << "scenes push out no model";
}

TEST_F(Recent, WindowsAtTheSameMomentForgetNoFile) {
  {
    std::vector<std::jthread> windows;
    for (const RecentKind kind : {RecentKind::scene, RecentKind::talk, RecentKind::model})
      windows.emplace_back([kind] {
        for (std::size_t i = 0; i < app::kRecentOfAKind; ++i)
          app::rememberRecent({kind, "/" + app::recentWord(kind) + std::to_string(i)});
      });
  }
  EXPECT_EQ(app::loadRecent().size(), 3 * app::kRecentOfAKind);
}

TEST_F(Recent, OpenDialogListsTalksAndModels) {
  rememberAll();
  ui.chord(kCtrl, Key::o).click("recent.0");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(own().talk->views.size(), 1u);
  ui.chord(kCtrl, Key::o).click("recent.2");
  EXPECT_EQ(ui.dialog(), "");
  ASSERT_TRUE(own().setup.subject.opened);
  EXPECT_EQ(own().setup.subject.opened->name, "qwen2");
}

TEST_F(Recent, MenuOpensRecentFiles) {
  rememberAll();
  ui.click("bar.menu").wait(0.2);
  ui.click("menu.recent.1");
  EXPECT_EQ(ui.dialog(), "");
  EXPECT_EQ(own().setup.input.text, "of the scene");
}

TEST_F(Recent, ReportsMissingFileInDialog) {
  app::rememberRecent({RecentKind::model, (folder / "gone").string()});
  ui.chord(kCtrl, Key::o).click("recent.0");
  EXPECT_EQ(ui.dialog(), "Open a scene");
  EXPECT_TRUE(ui.has("files.refused"));
}

TEST_F(Recent, FreshWindowOffersRecentFiles) {
  offer();
  EXPECT_FALSE(ui.has("offer.open")) << "nothing was opened before";
  rememberAll();
  offer();
  EXPECT_TRUE(ui.has("head.0")) << "the opening scene is there";
  EXPECT_THAT(flaws(ui), IsEmpty());
  ui.click("offer.recent.1");
  EXPECT_EQ(own().setup.input.text, "of the scene");
  EXPECT_FALSE(ui.has("offer.open"));
}

TEST_F(Recent, OfferDisappearsWhenDeclinedOrAfterEdit) {
  rememberAll();
  offer();
  ui.click("offer.recent.decline");
  EXPECT_FALSE(ui.has("offer.open"));
  offer();
  EXPECT_TRUE(ui.has("offer.open"));
  ui.replaceText("text", "edited").clickAway().wait(1);
  EXPECT_EQ(own().setup.input.text, "edited");
  EXPECT_FALSE(ui.has("offer.open"));
  ui.chord(kCtrl, Key::z);
  EXPECT_FALSE(ui.has("offer.open")) << "it doesn't come back";
}

TEST_F(Recent, OfferFitsNarrowWindow) {
  rememberAll();
  ui.resize(640, 480);
  offer();
  EXPECT_TRUE(ui.has("offer.open"));
  EXPECT_THAT(flaws(ui), IsEmpty());
}

}  // namespace
}  // namespace headscope::test
