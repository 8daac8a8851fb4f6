// Several layers built by the controls: their number, the layer that is shown, and all of them on one page.

#include <gtest/gtest.h>

#include "app/pages/common/model_facts.h"
#include "app/pages/head_lab/head_lab_page.h"
#include "app/pages/model/model_page.h"
#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;
using attention::Index;

constexpr const char* kRepeated =
    "red fox blue owl green cat red fox blue owl green cat red fox blue owl green cat";

class MadeLayers : public testing::Test {
 protected:
  void makeTwo() { ui.replaceText("text", kRepeated).clickAway().typeValue("layers", "2"); }
  const app::model_page::State& overview() { return ui.session().page<app::model_page::Page>().state(); }
  float induction() { return ui.sequence().profiles[0]["induction"].raw; }

  UiDriver ui;
};

TEST_F(MadeLayers, SecondLayerShowsInductionOnRepeatedText) {
  makeTwo();
  EXPECT_EQ(ui.scene().setup.model.layers, 2);
  EXPECT_LT(induction(), 0.5f) << "the first layer is shown, which attends to the previous token";
  ui.typeValue("model.layer", "1");
  EXPECT_EQ(ui.scene().setup.subject.layer, 1);
  EXPECT_GT(induction(), 0.95f);
  EXPECT_THAT(app::layerShape(ui.scene(), true), HasSubstr("layer 1 of 2"));
}

TEST_F(MadeLayers, PlantingChangesOnlyTheShownLayer) {
  makeTwo();
  ui.typeValue("model.layer", "1").choose("plant.0", "uniform");
  EXPECT_LT(induction(), 0.4f);
  EXPECT_EQ(ui.scene().setup.weights.planted, app::openingScene().setup.weights.planted)
      << "the first layer's stay";
  EXPECT_EQ(ui.scene().setup.weights.plantedAbove[0][0].behaviour, attention::Behaviour::uniform);
}

TEST_F(MadeLayers, RemovingLayersClampsShownLayerAndUndoRestoresIt) {
  makeTwo();
  ui.typeValue("layers", "4").typeValue("model.layer", "3");
  const app::Setup before = ui.scene().setup;
  ui.typeValue("layers", "2");
  EXPECT_EQ(ui.scene().setup.subject.layer, 1);
  ui.key(static_cast<Key>('Z'), {.ctrl = true});
  EXPECT_EQ(ui.scene().setup, before);
}

TEST_F(MadeLayers, ModelPageShowsAllLayersAndDoubleClickOpensOne) {
  makeTwo();
  ui.key(static_cast<Key>('7'));
  ASSERT_TRUE(overview().ready());
  ASSERT_EQ(overview().layers.size(), 2u);
  EXPECT_GT(overview().summary(1, 0)->profile["induction"].raw, 0.95f);
  ui.click("model.1.0");
  EXPECT_EQ(ui.scene().cursor.model.layer, 1);
  EXPECT_EQ(ui.scene().cursor.page, "model");
  ui.key(Key::x);
  EXPECT_EQ(ui.scene().setup.subject.switchedOff.size(), 1u);
  ui.key(Key::x).click("model.0.0").key(Key::x);
  EXPECT_LT(overview().summary(1, 0)->profile["induction"].raw, 0.3f)
      << "without the head that attends to the previous token there is no induction";
  ui.key(Key::x).doubleClick("model.1.0");
  EXPECT_EQ(ui.scene().cursor.page, "heads");
  EXPECT_EQ(ui.scene().setup.subject.layer, 1);
}

TEST_F(MadeLayers, ModelPageFollowsTheSliders) {
  makeTwo();
  ui.key(static_cast<Key>('7'));
  const float before = overview().summary(0, 0)->entropy;
  ui.typeValue("sharpness", "0.3");
  EXPECT_GT(overview().summary(0, 0)->entropy, before + 0.05f);
  ui.click("norm");
  EXPECT_TRUE(ui.scene().setup.model.norm);
  ui.click("model.sizes");
  EXPECT_EQ(ui.scene().cursor.page, "heads");
  ui.typeValue("layers", "1").key(static_cast<Key>('7'));
  EXPECT_FALSE(overview().model.isSynthetic()) << "one layer has no overview";
  EXPECT_TRUE(overview().model.example);
}

TEST_F(MadeLayers, LabShowsTheSelectedLayer) {
  makeTwo();
  ui.key(static_cast<Key>('8')).choose("lab.layer", "1");
  EXPECT_EQ(ui.scene().setup.subject.layer, 1);
  const app::head_lab_page::State& page = ui.session().page<app::head_lab_page::Page>().state();
  ASSERT_TRUE(page.layer);
  EXPECT_EQ(page.layer->question.snapshot->setup.subject.layer, 1);
}

TEST_F(MadeLayers, RefusesCrossAttentionWithSeveralLayers) {
  makeTwo();
  ui.click("cross");
  EXPECT_FALSE(ui.scene().setup.input.cross);
  ui.typeValue("layers", "1").click("cross");
  ASSERT_TRUE(ui.scene().setup.input.cross);
  ui.dragTo("layers", 1);
  EXPECT_EQ(ui.scene().setup.model.layers, 1);
}

}  // namespace
}  // namespace headscope::test
