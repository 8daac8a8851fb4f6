#include "app/scene/model_fit.h"

#include <gtest/gtest.h>

#include "app/scene/fields.h"

namespace headscope::app {
namespace {

/// Any sequence of moves of both sliders leaves a legal model, and moving back restores the original one.
TEST(ChosenHeads, SliderMovesStayValidAndReversible) {
  for (const Index kvHeads : {1, 2, 8}) {
    Scene scene = openingScene();
    ModelSetup& model = scene.setup.model;
    model.kvHeads = kvHeads;
    const ModelSetup before = model;
    ChosenHeads chosen;
    for (Index modelDim = 256; modelDim >= 16; --modelDim) {
      chosen.setModelDim(model, modelDim);
      const auto status = validate(scene);
      ASSERT_TRUE(status.ok()) << modelDim << ": " << status.error().message;
    }
    chosen.setModelDim(model, 256);
    EXPECT_EQ(model, before);
    for (const Index heads : {4, 2, 1, 2, 16, 64, 8}) {
      chosen.setHeads(model, heads);
      ASSERT_TRUE(validate(scene).ok()) << heads;
    }
    EXPECT_EQ(model, before);
  }
}

TEST(ChosenHeads, RespectsHeadsChosenElsewhere) {
  ModelSetup model = openingScene().setup.model;
  ChosenHeads chosen;
  chosen.setHeads(model, 1);
  model.heads = model.kvHeads = 4;  // after undo, or in another scene
  model.headDim = 64;
  chosen.setHeads(model, 8);
  EXPECT_EQ(model.kvHeads, 8) << "every head has keys of its own, as it was then";
}

/// Heads that share keys may need larger ones: then a linked model dim gives way, never the kv heads.
TEST(ChosenHeads, ModelDimGrowsBeforeKvHeadsGiveWay) {
  const Suits shares = [](const ModelSetup& tried) {
    return tried.heads == tried.kvHeads || tried.headDim >= 7;
  };
  ModelSetup model = openingScene().setup.model;
  ChosenHeads chosen;
  EXPECT_TRUE(chosen.setHeads(model, 64, shares));
  EXPECT_EQ(model.kvHeads, 2);
  EXPECT_EQ(model.modelDim, 448);
  EXPECT_EQ(chosen.modelDim(model), 256);
  EXPECT_EQ(chosen.headCounts(model, shares), (std::vector<Index>{1, 2, 4, 8, 16, 32, 64}));
  model.kvHeads = 4;  // by another control
  EXPECT_TRUE(chosen.setHeads(model, 32, shares));
  EXPECT_EQ(model.kvHeads, 4);
  EXPECT_EQ(model.modelDim, 256) << "what was chosen";
  model.linked = false;  // nothing else can give way
  model.headDim = 4;
  EXPECT_TRUE(chosen.setHeads(model, 64, shares));
  EXPECT_EQ(model.kvHeads, 64);
  EXPECT_EQ(model.modelDim, 256);
}

TEST(KvHeadCounts, LeavesOutWhatDoesNotSuit) {
  ModelSetup model = openingScene().setup.model;
  EXPECT_EQ(kvHeadCounts(model, {}), divisors(8));
  const Suits few = [](const ModelSetup& tried) { return tried.kvHeads >= 4; };
  EXPECT_EQ(kvHeadCounts(model, few), (std::vector<Index>{2, 4, 8})) << "the model's own number stays";
}

TEST(GrowModelDim, GrowsByWholeHeads) {
  ModelSetup model = openingScene().setup.model;
  model.heads = 6;
  model.kvHeads = 3;
  model.modelDim = 6;
  model.headDim = 1;
  const Suits suits = [](const ModelSetup& tried) { return tried.modelDim >= 16; };
  EXPECT_TRUE(growModelDim(model, suits));
  EXPECT_EQ(model.modelDim, 18);
  EXPECT_EQ(model.headDim, 3);
  EXPECT_FALSE(growModelDim(model, suits));
  const ModelSetup before = model;
  EXPECT_FALSE(growModelDim(model, [](const ModelSetup&) { return false; }));
  EXPECT_EQ(model, before) << "where nothing helps, nothing is changed";
}

}  // namespace
}  // namespace headscope::app
