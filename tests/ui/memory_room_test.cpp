// When memory is too small for the pictures of two pages, the visible page gets it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/pages/model/model_page.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Key;

constexpr app::Index kHeads = 8, kTokens = 300;
/// The bytes of all heads' weights in one layer.
constexpr std::uint64_t kWeights = kHeads * kTokens * kTokens * sizeof(float);

app::Scene fourLayers() {
  app::Scene scene = app::openingScene();
  std::string text;
  for (app::Index i = 0; i < kTokens; ++i) text += "w" + std::to_string(i) + " ";
  scene.setup.input.text = text;
  scene.setup.weights.source = app::WeightSource::random;
  scene.setup.model.layers = 4;
  scene.setup.model.heads = scene.setup.model.kvHeads = kHeads;
  scene.setup.model.headDim = 8;
  scene.setup.model.modelDim = 64;
  return scene;
}

class MemoryRoom : public testing::Test {
 protected:
  void open(std::uint64_t budget) {
    ui = std::make_unique<UiDriver>(1280, 720, 1, app::pageTable(), app::Limits{budget});
    ui->session().setScene(fourLayers());
    ui->draw();
  }
  const app::model_page::State& overview() { return ui->session().page<app::model_page::Page>().state(); }
  void show(char page) {
    ui->key(static_cast<Key>(page));
    ui->draw();
  }
  void expectHeads() {
    ASSERT_TRUE(ui->session().snapshot());
    EXPECT_FALSE(ui->session().error()) << *ui->session().error();
    EXPECT_FALSE(ui->session().snapshot()->sequences.empty());
  }

  std::unique_ptr<UiDriver> ui;
};

/// A pass through four layers holds the weights of all layers and of the layer being computed; a layer's page
/// holds its own.
TEST_F(MemoryRoom, VisiblePageGetsTheMemory) {
  open(kWeights * 13 / 2);
  expectHeads();
  show('7');
  EXPECT_EQ(overview().study.problem(), "");
  ASSERT_TRUE(overview().study);
  EXPECT_EQ(overview().study->layers.size(), 4u);
  EXPECT_FALSE(ui->session().snapshot()) << "the layer alone can be computed again";
  show('1');
  expectHeads();
  show('8');
  expectHeads();
  show('7');
  EXPECT_EQ(overview().study.problem(), "");
  EXPECT_TRUE(overview().study);
}

TEST_F(MemoryRoom, EnoughMemoryKeepsEverySnapshot) {
  open(kWeights * 40);
  const app::Snapshot* before = ui->session().snapshot();
  show('7');
  ASSERT_TRUE(overview().study);
  EXPECT_EQ(ui->session().snapshot(), before);
}

TEST_F(MemoryRoom, ReportsStudiesLargerThanTheBudget) {
  open(kWeights * 9 / 2);
  expectHeads();
  show('7');
  EXPECT_FALSE(overview().study);
  EXPECT_THAT(overview().study.problem(),
              testing::AllOf(testing::HasSubstr("All 8 heads of 4 layers on 300 tokens"),
                             testing::HasSubstr("the budget is")));
  show('1');
  expectHeads();
}

}  // namespace
}  // namespace headscope::test
