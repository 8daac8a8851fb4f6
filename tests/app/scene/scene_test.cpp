#include "app/scene/scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/app/scene/random_scene.h"

namespace headscope::app {
namespace {

using attention::Behaviour;
using test::Dice;
using ::testing::HasSubstr;

TEST(Scene, TheOpeningSceneIsLegalAndFull) {
  const Scene scene = openingScene();
  EXPECT_TRUE(validate(scene).ok());
  EXPECT_EQ(scene, openingScene());
  EXPECT_EQ(static_cast<Index>(scene.setup.weights.planted.size()), scene.setup.model.heads);
  EXPECT_EQ(kindOf(scene.setup.model), AttentionKind::gqa);
  EXPECT_EQ(attention::maskText(scene.setup.mask.layers), "causal & padding");
}

TEST(Scene, RandomScenesAreLegal) {
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

/// Just outside either end, and what no range holds.
std::vector<OutOfRange> outOfRange() {
  std::vector<OutOfRange> cases;
  const auto add = [&](const char* field, auto member, auto... values) {
    (cases.push_back({field, [member, values](Scene& scene) { member(scene) = values; }}), ...);
  };
  const Index huge = std::numeric_limits<Index>::max();
  add(
      "model.heads", [](Scene & s) -> auto& { return s.setup.model.heads; }, 0, -1, kMaxHeads + 1, huge);
  add(
      "model.kv_heads", [](Scene & s) -> auto& { return s.setup.model.kvHeads; }, 0, -2, 3, 16, kMaxHeads + 1,
      huge);
  add(
      "model.head_dim", [](Scene & s) -> auto& { return s.setup.model.headDim; }, 0, -1, kMaxHeadDim + 1,
      huge);
  add(
      "model.model_dim", [](Scene & s) -> auto& { return s.setup.model.modelDim; }, 0, -1, kMaxModelDim + 1,
      huge);
  add(
      "model.linked", [](Scene & s) -> auto& { return s.setup.model.modelDim; }, 255, 1);
  add(
      "model.sharpness", [](Scene & s) -> auto& { return s.setup.model.sharpness; }, -0.001F, 100.1F, NAN,
      INFINITY);
  add(
      "model.softcap", [](Scene & s) -> auto& { return s.setup.model.softcap; }, -1.0F, 1001.0F, NAN,
      INFINITY);
  add(
      "model.dropout", [](Scene & s) -> auto& { return s.setup.model.dropout; }, -0.1F, 0.951F, 1.0F, NAN);
  add(
      "model.rope_theta", [](Scene & s) -> auto& { return s.setup.model.ropeTheta; }, 0.999, -1.0, 1.1e9,
      static_cast<double>(NAN));
  add(
      "model.t5_buckets", [](Scene & s) -> auto& { return s.setup.model.t5Buckets; }, 0, 2, 31, -4,
      kMaxT5Buckets + 2, huge);
  add(
      "model.t5_distance", [](Scene & s) -> auto& { return s.setup.model.t5Distance; }, 0, 16, kMaxTokens + 1,
      huge);
  add(
      "model.t5_strength", [](Scene & s) -> auto& { return s.setup.model.t5Strength; }, -0.001F, 100.1F, NAN,
      INFINITY);
  add(
      "cursor.studio.block_size", [](Scene & s) -> auto& { return s.cursor.studio.blockSize; }, 15, 129, 0,
      -32, huge);
  add(
      "cursor.studio.layers", [](Scene & s) -> auto& { return s.cursor.studio.layers; }, 0, -1,
      kMaxReachLayers + 1, huge);
  add(
      "cursor.studio.wipe", [](Scene & s) -> auto& { return s.cursor.studio.wipe; }, -0.001F, 1.001F, NAN,
      INFINITY);
  add(
      "prefill", [](Scene & s) -> auto& { return s.setup.prefill; }, 0, -1, kMaxTokens + 1, huge);
  add(
      "look.cache_bytes", [](Scene & s) -> auto& { return s.look.cacheBytes; }, 0, 3, 8, -4);
  add(
      "weights.planted", [](Scene & s) -> auto& { return s.setup.weights.planted[5].offset; }, kMaxTokens + 1,
      -kMaxTokens - 1, huge, -huge);
  cases.push_back({"weights.planted", [](Scene& s) { s.setup.weights.planted.resize(kMaxHeads + 1); }});
  cases.push_back({"mask.marks", [](Scene& s) { s.setup.mask.marks.resize(kMaxLines + 1); }});
  cases.push_back({"model.head_dim", [](Scene& s) {
                     s.setup.model.position = PositionKind::rope;
                     s.setup.model.headDim = 33;
                     s.setup.model.modelDim = 33 * s.setup.model.heads;
                   }});
  return cases;
}

TEST(Validate, NamesTheFieldThatIsOutOfRange) {
  for (const OutOfRange& wrong : outOfRange()) {
    Scene scene = openingScene();
    wrong.change(scene);
    const auto status = validate(scene);
    ASSERT_FALSE(status.ok()) << wrong.field;
    EXPECT_THAT(status.error().message, HasSubstr(wrong.field));
    EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
  }
}

TEST(Validate, AcceptsTheEndsOfEveryRange) {
  Scene scene = openingScene();
  ModelSetup& model = scene.setup.model;
  model.linked = false;
  for (bool most : {false, true}) {
    model.heads = model.kvHeads = most ? kMaxHeads : 1;
    model.headDim = most ? kMaxHeadDim : 1;
    model.modelDim = most ? kMaxModelDim : 1;
    model.sharpness = most ? 100 : 0;
    model.softcap = most ? 1000 : 0;
    model.dropout = most ? 0.95F : 0;
    model.ropeTheta = most ? 1e9 : 1;
    model.t5Buckets = most ? kMaxT5Buckets : 4;
    model.t5Distance = most ? kMaxTokens : 3;
    model.t5Strength = most ? 100 : 0;
    scene.setup.prefill = most ? kMaxTokens : 1;
    scene.setup.mask.marks.resize(most ? kMaxLines : 0);
    StudioCursor& studio = scene.cursor.studio;
    studio.blockSize = most ? 128 : 16;
    studio.layers = most ? kMaxReachLayers : 1;
    studio.wipe = most ? 1 : 0;
    scene.setup.weights.planted.assign(most ? kMaxHeads : 0,
                                       {Behaviour::offset, most ? kMaxTokens : -kMaxTokens});
    const auto status = validate(scene);
    EXPECT_TRUE(status.ok()) << status.error().message;
  }
}

TEST(Divisors, AreAllAndAscending) {
  EXPECT_THAT(divisors(1), testing::ElementsAre(1));
  EXPECT_THAT(divisors(12), testing::ElementsAre(1, 2, 3, 4, 6, 12));
  EXPECT_THAT(divisors(13), testing::ElementsAre(1, 13));
  EXPECT_TRUE(divisors(0).empty());
}

TEST(KvHeadsFor, FollowsTheKind) {
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
      EXPECT_EQ(kindOf({.heads = heads, .kvHeads = grouped}), AttentionKind::gqa);
    }
  }
}

TEST(KindOf, TellsTheThreeApart) {
  EXPECT_EQ(kindOf({.heads = 8, .kvHeads = 8}), AttentionKind::mha);
  EXPECT_EQ(kindOf({.heads = 8, .kvHeads = 4}), AttentionKind::gqa);
  EXPECT_EQ(kindOf({.heads = 8, .kvHeads = 1}), AttentionKind::mqa);
  EXPECT_EQ(kindOf({.heads = 1, .kvHeads = 1}), AttentionKind::mha);
}

/// Every model dim that can be set from outside, from a few models: what comes out is legal, the model dim is
/// as it was set, and heads that still fit stay.
TEST(FitModelTo, MakesEveryModelDimLegal) {
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

TEST(FitModelTo, TakesTheNearestNumberOfHeads) {
  ModelSetup model = openingScene().setup.model;
  model.modelDim = 60;
  fitModelTo(model);
  EXPECT_TRUE(model.heads == 6 || model.heads == 10) << model.heads;
  EXPECT_EQ(model.heads * model.headDim, 60);
}

TEST(FitModelTo, LeavesAnUnlinkedModelAlone) {
  ModelSetup model = openingScene().setup.model;
  model.linked = false;
  model.modelDim = 13;
  const ModelSetup before = model;
  fitModelTo(model);
  EXPECT_EQ(model, before);
}

TEST(PlantedHeads, FillUpWithDefaultsAndDropNothing) {
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

TEST(PlantedHeads, DefaultsAreTheOpeningSceneAndCycle) {
  const Scene scene = openingScene();
  EXPECT_EQ(plantedHeads(scene.setup), scene.setup.weights.planted);
  for (Index head = 0; head < 8; ++head) EXPECT_EQ(defaultPlant(head), defaultPlant(head + 8));
}

}  // namespace
}  // namespace headscope::app
