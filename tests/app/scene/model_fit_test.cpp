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
