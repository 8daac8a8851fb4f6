// Pictures on the page Model: a model that reads them, a dropped picture, a clicked patch.

#include <gtest/gtest.h>

#include "app/pages/model/model_page.h"
#include "app/platform/preferences.h"
#include "attention/formats/safetensors.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/vision_files.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using attention::Index;
using attention::test::VitFolder;

class ModelPicture : public testing::Test {
 protected:
  ModelPicture() { app::saveRecent({}); }
  void open() { ui.drop({vit.path().string()}); }
  void dropPicture() { ui.drop({vit.picture().string()}); }
  const app::model_page::State& state() { return ui.session().page<app::model_page::Page>().state(); }

  VitFolder vit;
  UiDriver ui;
};

TEST_F(ModelPicture, DroppedPictureIsShownUnderEveryHead) {
  open();
  ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  EXPECT_FALSE(ui.session().error());
  EXPECT_TRUE(ui.has("model.picture"));
  dropPicture();
  ASSERT_TRUE(state().picture()) << ui.view().messages.error;
  EXPECT_FALSE(ui.session().error());
  EXPECT_EQ(state().picture()->name, "fox.png");
  EXPECT_EQ(ui.scene().setup.subject.picture, vit.picture().string());
  EXPECT_EQ(std::ssize(ui.names("model.0.")), 3);
  EXPECT_EQ(ui.scene().cursor.cell.query, 0) << "the class token asks";
  // The lower right patch of the second head.
  const render::Image before = ui.screenshot();
  ui.clickAt("model.0.1", 0.75f, 0.75f);
  EXPECT_EQ(ui.scene().cursor.page, "model");
  EXPECT_EQ(ui.scene().cursor.cell.head, 1);
  EXPECT_EQ(ui.scene().cursor.cell.query, 4);
  ui.park();
  EXPECT_GT(pixelsApart(before, ui.screenshot()), 100);
  // The upper right patch in the large picture, then the class token again.
  const std::string selected = ui.sceneText();
  ui.hoverAt("model.picture.large", 0.75f, 0.25f);
  EXPECT_EQ(ui.view().hover.key, 2);
  EXPECT_EQ(ui.sceneText(), selected) << "hovering is no edit";
  ui.clickAt("model.picture.large", 0.75f, 0.25f);
  EXPECT_EQ(ui.scene().cursor.cell.query, 2);
  ui.click("picture.token.0");
  EXPECT_EQ(ui.scene().cursor.cell.query, 0);
}

TEST_F(ModelPicture, RolloutRowsSumToOneAndAreShown) {
  open();
  dropPicture();
  ASSERT_EQ(std::ssize(state().study->rollout), 2);
  for (const attention::Matrix& rollout : state().study->rollout)
    EXPECT_LE((rollout.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-5f);
  const app::PictureMapChoice choice{app::PictureMap::rollout, 3};
  for (Index layer = 0; layer < 2; ++layer) {
    const auto map = app::pictureMap(*state().layer(layer), 1, state().rolloutBelow(layer), choice);
    EXPECT_NEAR(map.sum(), 1, 1e-5f);
  }
  ui.click("picture.map.rollout");
  EXPECT_EQ(ui.scene().cursor.model.pictureMap, app::PictureMap::rollout);
}

TEST_F(ModelPicture, ShowsClassesAndEffectOfDisabledHead) {
  const VitFolder classifier(3);
  ui.drop({classifier.path().string()}).drop({classifier.picture().string()});
  ASSERT_TRUE(state().picture()) << ui.view().messages.error;
  ASSERT_TRUE(state().model.classifies());
  ASSERT_TRUE(state().predictions.newest());
  const app::TokenPredictions before = *state().predictions;
  ASSERT_EQ(before.best.size(), 3u);
  float sum = 0;
  for (const app::Prediction& guess : before.best) sum += guess.probability;
  EXPECT_NEAR(sum, 1, 1e-5f);
  EXPECT_EQ(before.lens.size(), 3u) << "the embedding and two layers";
  EXPECT_FALSE(before.real);
  EXPECT_THAT(ui.session().page<app::model_page::Page>().state().model.words.at(before.best[0].id),
              ::testing::StartsWith("class "));
  EXPECT_TRUE(ui.has("guess.0"));
  EXPECT_FALSE(ui.has("model.headless"));
  // Predictions are for the whole picture, whichever patch is the query.
  ui.clickAt("model.picture.large", 0.75f, 0.75f);
  EXPECT_EQ(state().predictions->best[0].probability, before.best[0].probability);
  ui.session().scene().setup.subject.switchedOff = {{1, 0, app::HeadOff::zero}};
  ui.draw();
  const app::Prediction changed = state().predictions->best[0];
  EXPECT_NE(changed.probability, changed.unchanged);
  EXPECT_GE(changed.unchanged, 0);
}

TEST_F(ModelPicture, ReportsMissingClassifier) {
  open();
  dropPicture();
  EXPECT_TRUE(ui.has("model.headless"));
  EXPECT_FALSE(ui.has("guess.0"));
  // In a narrow window, the large head takes the space of the predictions.
  ui.resize(1280, 720);
  EXPECT_TRUE(ui.has("model.headless"));
  ASSERT_TRUE(ui.has("model.picture.large"));
  EXPECT_LT(ui.find("model.0.2").Max.x, ui.find("model.picture.large").Min.x);
}

TEST_F(ModelPicture, RefusesPictureWithoutSuitableModel) {
  dropPicture();
  EXPECT_THAT(ui.view().messages.error,
              HasSubstr("fox.png is a picture: open a model that reads pictures first"));
  ui.drop({attention::test::goldenModel("gpt2").string()});
  dropPicture();
  EXPECT_THAT(ui.view().messages.error, HasSubstr("fox.png is a picture"));
  ASSERT_TRUE(ui.scene().setup.subject.opened);
  EXPECT_FALSE(ui.scene().setup.subject.opened->picture);
}

TEST_F(ModelPicture, IsShownWithRecordedPatchAttention) {
  const TemporaryFolder folder;
  attention::SafetensorsFile file;
  attention::NamedTensor weights{attention::DType::F32, {2, 3, 10, 10}, {}};
  const float even = 0.1f;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&even);
  for (int i = 0; i < 600; ++i) weights.bytes.insert(weights.bytes.end(), bytes, bytes + 4);
  file.tensors["attention"] = weights;
  const std::string path = (folder / "vit.safetensors").string();
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  open();
  ui.drop({path});
  ASSERT_TRUE(ui.scene().setup.subject.opened->recorded) << ui.view().messages.error;
  dropPicture();
  ASSERT_TRUE(state().picture()) << ui.view().messages.error;
  EXPECT_EQ(state().picture()->rows, 3);
  EXPECT_EQ(state().picture()->before, 1);
  ui.clickAt("model.1.2", 0.5f, 0.5f);
  EXPECT_EQ(ui.scene().cursor.cell.query, 5);
}

}  // namespace
}  // namespace headscope::test
