#include "app/scene/scene.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "app/scene/fields.h"
#include "app/scene/model_fit.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::Behaviour;
using test::Dice;

TEST(Scene, OpeningSceneIsValidAndComplete) {
  const Scene scene = openingScene();
  EXPECT_TRUE(validate(scene).ok());
  EXPECT_EQ(scene, openingScene());
  EXPECT_EQ(static_cast<Index>(scene.setup.weights.planted.size()), scene.setup.model.heads);
  EXPECT_EQ(kindOf(scene.setup.model), AttentionKind::gqa);
  EXPECT_EQ(attention::maskText(scene.setup.mask.layers), "causal & padding");
}

TEST(Scene, RandomScenesAreValid) {
  Dice dice(1);
  for (int i = 0; i < 500; ++i) {
    const auto valid = validate(randomScene(dice, i % 2 ? test::kAnyScene : test::SceneSizes{}));
    ASSERT_TRUE(valid.ok()) << valid.error().message;
  }
}

struct OutOfRange {
  const char* field;
  std::function<void(Scene&)> change;
};

/// Violations that aren't ranges; tests/app/scene/fields_test.cpp covers the ranges' ends.
std::vector<OutOfRange> outOfRange() {
  return {{"model.kv_heads", [](Scene& s) { s.setup.model.kvHeads = 3; }},
          {"model.kv_heads", [](Scene& s) { s.setup.model.kvHeads = 16; }},
          {"model.heads", [](Scene& s) { s.setup.model.heads = std::numeric_limits<Index>::max(); }},
          {"model.linked", [](Scene& s) { s.setup.model.modelDim = 255; }},
          {"model.sharpness", [](Scene& s) { s.setup.model.sharpness = NAN; }},
          {"model.softcap", [](Scene& s) { s.setup.model.softcap = INFINITY; }},
          {"model.rope_theta", [](Scene& s) { s.setup.model.ropeTheta = static_cast<double>(NAN); }},
          {"cursor.studio.wipe", [](Scene& s) { s.cursor.studio.wipe = NAN; }},
          {"model.t5_distance", [](Scene& s) { s.setup.model.t5Distance = 16; }},
          {"weights.planted", [](Scene& s) { s.setup.weights.planted[5].offset = kMaxTokens + 1; }},
          {"weights.planted", [](Scene& s) { s.setup.weights.planted[5].offset = -kMaxTokens - 1; }},
          {"weights.planted", [](Scene& s) { s.setup.weights.planted.resize(kMaxHeads + 1); }},
          {"mask.marks", [](Scene& s) { s.setup.mask.marks.edit().resize(kMaxLines + 1); }},
          {"model.head_dim", [](Scene& s) {
             s.setup.model.position = PositionKind::rope;
             s.setup.model.headDim = 33;
             s.setup.model.modelDim = 33 * s.setup.model.heads;
           }}};
}

TEST(Validate, NamesTheFieldOutOfRange) {
  for (const OutOfRange& wrong : outOfRange()) {
    Scene scene = openingScene();
    wrong.change(scene);
    const auto status = validate(scene);
    ASSERT_FALSE(status.ok()) << wrong.field;
    EXPECT_THAT(status.error().message, HasSubstr(wrong.field));
    EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
  }
}

TEST(Divisors, ListsAllInAscendingOrder) {
  EXPECT_THAT(divisors(1), testing::ElementsAre(1));
  EXPECT_THAT(divisors(12), testing::ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_THAT(divisors(13), testing::ElementsAre(1, 13));
  EXPECT_TRUE(divisors(0).empty());
}

AttentionKind kindWith(Index heads, Index kvHeads) {
  ModelSetup model;
  model.heads = heads;
  model.kvHeads = kvHeads;
  return kindOf(model);
}

TEST(KvHeadsFor, MatchesTheAttentionKind) {
  for (Index heads = 1; heads <= kMaxHeads; ++heads) {
    EXPECT_EQ(kvHeadsFor(AttentionKind::mha, heads), heads);
    EXPECT_EQ(kvHeadsFor(AttentionKind::mqa, heads), 1);
    const Index grouped = kvHeadsFor(AttentionKind::gqa, heads);
    ASSERT_EQ(heads % grouped, 0) << heads;
    const double wanted = std::sqrt(static_cast<double>(heads));
    bool any = false;
    for (const Index d : divisors(heads)) {
      if (d == 1 || d == heads) continue;
      any = true;
      EXPECT_LE(std::abs(static_cast<double>(grouped) - wanted), std::abs(static_cast<double>(d) - wanted))
          << d << " of " << heads;
    }
    if (any) {
      EXPECT_NE(grouped, 1) << heads;
      EXPECT_NE(grouped, heads);
      EXPECT_EQ(kindWith(heads, grouped), AttentionKind::gqa);
    }
  }
}

TEST(KindOf, DistinguishesMhaGqaAndMqa) {
  EXPECT_EQ(kindWith(8, 8), AttentionKind::mha);
  EXPECT_EQ(kindWith(8, 4), AttentionKind::gqa);
  EXPECT_EQ(kindWith(8, 1), AttentionKind::mqa);
  EXPECT_EQ(kindWith(1, 1), AttentionKind::mha);
}

/// Every model dim that can be set from outside, starting from several models: the result is legal, has the
/// requested model dim, and keeps heads that still fit.
TEST(FitModelTo, MakesEveryModelDimValid) {
  for (const PositionKind position : {PositionKind::sinusoidal, PositionKind::rope})
    for (const auto& [heads, kvHeads] :
         {std::pair<Index, Index>{8, 2}, {1, 1}, {64, 1}, {12, 12}, {7, 7}, {6, 3}})
      for (Index modelDim = 1; modelDim <= kMaxModelDim; ++modelDim) {
        Scene scene = openingScene();
        ModelSetup& model = scene.setup.model;
        model.heads = heads;
        model.kvHeads = kvHeads;
        model.headDim = 32;
        model.position = position;
        model.modelDim = modelDim;
        const AttentionKind kind = kindOf(model);
        fitModelTo(model);
        const auto status = validate(scene);
        ASSERT_TRUE(status.ok()) << modelDim << " from " << heads << " heads: " << status.error().message;
        ASSERT_EQ(model.modelDim, modelDim);
        const bool even = position != PositionKind::rope || modelDim / heads % 2 == 0;
        if (modelDim % heads == 0 && modelDim / heads <= kMaxHeadDim && even) {
          ASSERT_EQ(model.heads, heads) << modelDim;
          ASSERT_EQ(model.kvHeads, kvHeads) << modelDim;
        }
        if (model.linked && kind == AttentionKind::mha) {
          ASSERT_EQ(model.kvHeads, model.heads);
        }
        if (model.linked && kind == AttentionKind::mqa) {
          ASSERT_EQ(model.kvHeads, 1);
        }
        if (!model.linked) {
          ASSERT_TRUE(position == PositionKind::rope || modelDim > kMaxHeadDim) << modelDim;
        }
      }
}

TEST(FitModelTo, ChoosesNearestNumberOfHeads) {
  ModelSetup model = openingScene().setup.model;
  model.modelDim = 60;
  fitModelTo(model);
  EXPECT_TRUE(model.heads == 6 || model.heads == 10) << model.heads;
  EXPECT_EQ(model.heads * model.headDim, 60);
}

TEST(FitModelTo, LeavesUnlinkedModelUnchanged) {
  ModelSetup model = openingScene().setup.model;
  model.linked = false;
  model.modelDim = 13;
  const ModelSetup before = model;
  fitModelTo(model);
  EXPECT_EQ(model, before);
}

TEST(PlantedHeads, FillsUpWithDefaultsAndDropsNothing) {
  app::Setup setup = openingScene().setup;
  setup.weights.planted = {{Behaviour::separator, 1}, {Behaviour::random, 1}};
  setup.model.heads = 11;
  const auto heads = plantedHeads(setup);
  ASSERT_EQ(heads.size(), 11u);
  EXPECT_EQ(heads[0].behaviour, Behaviour::separator);
  EXPECT_EQ(heads[1].behaviour, Behaviour::random);
  for (Index head = 2; head < 11; ++head)
    EXPECT_EQ(heads[static_cast<std::size_t>(head)], defaultPlant(head));
  setup.model.heads = 1;
  EXPECT_EQ(plantedHeads(setup).size(), 1u);
  EXPECT_EQ(setup.weights.planted.size(), 2u) << "entries beyond the number of heads are kept";
}

TEST(PlantedHeads, DefaultsMatchOpeningSceneAndRepeat) {
  const Scene scene = openingScene();
  EXPECT_EQ(plantedHeads(scene.setup), scene.setup.weights.planted);
  for (Index head = 0; head < 8; ++head) EXPECT_EQ(defaultPlant(head), defaultPlant(head + 8));
}

}  // namespace
}  // namespace headscope::app
