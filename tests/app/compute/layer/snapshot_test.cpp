#include "app/compute/layer/snapshot.h"

#include <gtest/gtest.h>

#include <cfloat>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/scene/mask_rules.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::Behaviour;
using test::computed;
using test::plainSetup;
using test::sameBits;

std::vector<std::string> labelsOf(const SequenceSnapshot& sequence) {
  std::vector<std::string> labels;
  for (const attention::HeadProfile& profile : sequence.profiles)
    labels.push_back(attention::describe(attention::labelHead(profile)));
  return labels;
}

std::vector<std::string> plantsOf(const app::Setup& setup) {
  std::vector<std::string> plants;
  for (const attention::PlantedHead& head : plantedHeads(setup)) plants.push_back(attention::describe(head));
  return plants;
}

TEST(Snapshot, FindsHeadsPlantedInOpeningScene) {
  const Snapshot snapshot = computed(openingScene().setup);
  ASSERT_EQ(snapshot.sequences.size(), 1u);
  EXPECT_EQ(snapshot.sequences[0].queries.size(), 12u);
  const std::vector<std::string> labels = labelsOf(snapshot.sequences[0]), plants = plantsOf(snapshot.setup);
  EXPECT_THAT(labels, ElementsAre("previous token", "first token", "self", "uniform", "2 back", "local band",
                                  "same token", testing::_));
  EXPECT_TRUE(std::equal(labels.begin(), labels.end() - 1, plants.begin()));
}

/// Planted heads are found with every kind of attention and mask.
TEST(Snapshot, FindsPlantedHeadsInEveryKindOfAttention) {
  for (const Index kvHeads : {8, 4, 2, 1})
    for (const bool causal : {true, false}) {
      app::Setup setup = openingScene().setup;
      setup.input.text =
          "the cat sat on the mat . the dog saw the cat , and the cat saw the dog . then the dog ran to the "
          "mat .";
      setup.model.kvHeads = kvHeads;
      setup.mask.layers = layersOf({.causal = causal});
      setup.weights.planted = {{Behaviour::offset, 1},    {Behaviour::firstToken, 1},
                               {Behaviour::offset, 0},    {Behaviour::uniform, 1},
                               {Behaviour::offset, 3},    {Behaviour::localBand, 1},
                               {Behaviour::sameToken, 1}, {Behaviour::separator, 1}};
      const Snapshot snapshot = computed(setup);
      EXPECT_EQ(labelsOf(snapshot.sequences[0]), plantsOf(setup))
          << kvHeads << " kv heads, causal " << causal;
    }
}

TEST(Snapshot, CarriesItsSetup) {
  test::Dice dice(2);
  for (int i = 0; i < 20; ++i) {
    const app::Setup setup = test::randomScene(dice, {}).setup;
    EXPECT_EQ(computeSnapshot(setup, test::kRoomy).setup, setup);
  }
}

TEST(Snapshot, IsBitIdenticalForTheSameSetup) {
  for (const WeightSource source : {WeightSource::planted, WeightSource::random}) {
    app::Setup setup = openingScene().setup;
    setup.input.text = "one two three\nfour five\n";
    setup.weights.source = source;
    setup.model.dropout = 0.2F;
    const Snapshot once = computed(setup), again = computed(setup);
    ASSERT_EQ(once.sequences.size(), again.sequences.size());
    EXPECT_EQ(once.bytes, again.bytes);
    for (std::size_t i = 0; i < once.sequences.size(); ++i) {
      const SequenceSnapshot &a = once.sequences[i], &b = again.sequences[i];
      EXPECT_TRUE(sameBits(a.attention, b.attention));
      ASSERT_EQ(a.pictures.levels.size(), b.pictures.levels.size());
      for (std::size_t level = 0; level < a.pictures.levels.size(); ++level) {
        EXPECT_TRUE(sameBits(a.pictures.levels[level].weights, b.pictures.levels[level].weights));
        EXPECT_TRUE(sameBits(a.pictures.levels[level].scores, b.pictures.levels[level].scores));
      }
      EXPECT_EQ(a.queries, b.queries);
      EXPECT_EQ(labelsOf(a), labelsOf(b));
    }
  }
}

TEST(Snapshot, ChangesWithEverySeed) {
  const app::Setup plain = plainSetup("one two three");
  const Snapshot before = computed(plain);
  app::Setup words = plain, weights = plain, dropped = plain;
  ++words.input.seed;
  ++weights.weights.seed;
  dropped.model.dropout = 0.5F;
  for (const app::Setup& changed : {words, weights, dropped})
    EXPECT_FALSE(
        sameBits(computed(changed).sequences[0].attention.weights, before.sequences[0].attention.weights));
}

/// Heads of other groups stay identical bit by bit; heads of the same group share the keys, which may be
/// divided differently.
TEST(Snapshot, ChangingOnePlantedHeadKeepsOtherGroups) {
  for (const Index kvHeads : {8, 4, 2}) {
    app::Setup setup = openingScene().setup;
    setup.model.kvHeads = kvHeads;
    const Snapshot before = computed(setup);
    const Index group = setup.model.heads / kvHeads;
    for (Index changed = 0; changed < setup.model.heads; ++changed) {
      app::Setup other = setup;
      auto& plant = other.weights.planted[static_cast<std::size_t>(changed)];
      plant = plant.behaviour == Behaviour::separator ? attention::PlantedHead{Behaviour::offset, 3}
                                                      : attention::PlantedHead{Behaviour::separator, 1};
      const Snapshot after = computed(other);
      for (Index head = 0; head < setup.model.heads; ++head) {
        const attention::Matrix a = before.sequences[0].attention.weights[head],
                                b = after.sequences[0].attention.weights[head];
        if (head / group != changed / group) {
          EXPECT_TRUE(sameBits(a, b)) << "head " << head << " when head " << changed << " changed";
        }
        if (head == changed) {
          EXPECT_FALSE(sameBits(a, b)) << "head " << head;
        }
      }
    }
  }
}

/// If one head of a group is a copy of another, both share K and V and give the same weights.
TEST(Snapshot, HeadsOfAGroupShareKeysAndValues) {
  app::Setup setup = plainSetup("one two three four");
  for (const Index kvHeads : {4, 2, 1}) {
    setup.model.kvHeads = kvHeads;
    const Snapshot snapshot = computed(setup);
    const attention::AttentionResult& result = snapshot.sequences[0].attention;
    EXPECT_EQ(result.k.count(), kvHeads);
    EXPECT_EQ(result.v.count(), kvHeads);
    EXPECT_EQ(result.weights.count(), 4);
  }
}

TEST(Snapshot, TokenwiseDecodeMatchesFullPass) {
  for (const PositionKind position : {PositionKind::none, PositionKind::sinusoidal, PositionKind::rope,
                                      PositionKind::alibi, PositionKind::t5})
    for (const bool window : {false, true}) {
      app::Setup setup = plainSetup("a b c d e f g h i j k l m n o p\nq r s");
      setup.model.position = position;
      setup.mask.layers = layersOf({.window = window ? 3 : 0, .sinks = window ? 2 : 0});
      setup.prefill = 5;
      const Snapshot snapshot = computed(setup);
      for (const SequenceSnapshot& sequence : snapshot.sequences) {
        const DecodeCheck& check = sequence.decode;
        EXPECT_TRUE(check.applies);
        EXPECT_EQ(check.prefill, std::min<Index>(5, sequence.queryLength));
        EXPECT_EQ(check.prefill + check.steps, sequence.queryLength);
        EXPECT_LE(check.maxDifference, decodeTolerance(snapshot.config, sequence))
            << "as the program says it";
        EXPECT_LT(check.maxDifference, 1e-3F) << "larger than anything rounding does";
      }
    }
}

TEST(Snapshot, ChecksDecodingOnlyWhenPossible) {
  app::Setup setup = plainSetup("a b c d");
  EXPECT_FALSE(computed(setup).sequences[0].decode.applies) << "not causal";
  setup.mask.layers = layersOf({});
  setup.prefill = 4;
  EXPECT_TRUE(computed(setup).sequences[0].decode.applies);
  EXPECT_EQ(computed(setup).sequences[0].decode.steps, 0) << "all of it in the prefill";
  setup.model.dropout = 0.1F;
  EXPECT_FALSE(computed(setup).sequences[0].decode.applies) << "dropout is for training";
  setup.model.dropout = 0;
  setup.input.cross = true;
  setup.input.contextText = "x y z";
  EXPECT_FALSE(computed(setup).sequences[0].decode.applies) << "cross-attention";
}

TEST(Snapshot, ComputesSingleToken) {
  for (const bool causal : {true, false}) {
    app::Setup setup = openingScene().setup;
    setup.input.text = "Hello";
    setup.mask.layers = layersOf({.causal = causal});
    const Snapshot snapshot = computed(setup);
    const attention::AttentionResult& result = snapshot.sequences[0].attention;
    for (Index head = 0; head < 8; ++head) EXPECT_EQ(result.weights.at(head, 0, 0), 1.0F);
  }
}

TEST(Snapshot, CountsItsBytes) {
  const Snapshot snapshot = computed(plainSetup("one two three\nfour five six seven"));
  std::uint64_t pictures = 0;
  for (const SequenceSnapshot& sequence : snapshot.sequences)
    for (const PictureLevel& level : sequence.pictures.levels)
      pictures += static_cast<std::uint64_t>(level.weights.size() + level.scores.size()) * sizeof(float);
  EXPECT_EQ(snapshot.bytes, 2 * attention::attentionResultBytes(snapshot.config, 4, 4) + pictures);
}

TEST(ConfigOf, CopiesEveryChoice) {
  app::Setup setup = openingScene().setup;
  setup.model.sharpness = 2;
  setup.model.softcap = 4;
  setup.model.dropout = 0.25F;
  attention::AttentionConfig config = configOf(setup);
  EXPECT_FLOAT_EQ(config.effectiveScale(), 1 / std::sqrt(32.0F));
  EXPECT_EQ(config.sharpness, 2);
  EXPECT_EQ(config.softcap, 4);
  EXPECT_EQ(config.dropout.probability, 0.25F);
  EXPECT_FALSE(config.ropeTheta);
  EXPECT_FALSE(config.alibi);
  EXPECT_FALSE(config.t5);
  setup.model.scaled = false;
  setup.model.position = PositionKind::rope;
  setup.model.ropeTheta = 500;
  config = configOf(setup);
  EXPECT_EQ(config.effectiveScale(), 1);
  EXPECT_EQ(config.sharpness, 2);
  EXPECT_EQ(config.ropeTheta, 500);
  setup.model.position = PositionKind::alibi;
  EXPECT_TRUE(configOf(setup).alibi);
  setup.model.position = PositionKind::t5;
  setup.model.t5Buckets = 8;
  setup.model.t5Distance = 20;
  setup.model.t5Strength = 0.5F;
  setup.weights.seed = 99;
  config = configOf(setup);
  EXPECT_FALSE(config.alibi);
  EXPECT_EQ(config.t5, (attention::BucketBias{8, 20, false, 0.5F, 99}));
}

/// Decided by the resulting mask.
TEST(ConfigOf, SnapshotIsCausalIfNoQuerySeesTheFuture) {
  app::Setup setup = plainSetup("a b c d\ne f");
  const auto causal = [&](const char* expression) {
    setup.mask.layers = test::layersFrom(expression);
    return computed(setup).causal;
  };
  EXPECT_TRUE(causal("causal"));
  EXPECT_TRUE(causal("window(2) | sinks(1) & causal"));
  EXPECT_TRUE(causal("chunked(2)"));
  EXPECT_TRUE(causal("!full")) << "nothing is seen at all";
  EXPECT_TRUE(causal("sinks(1)")) << "the first token is nobody's future";
  EXPECT_FALSE(causal(""));
  EXPECT_FALSE(causal("padding"));
  EXPECT_FALSE(causal("causal | sinks(2)"));
  EXPECT_FALSE(causal("heads(0-2): causal")) << "one head sees it";
  EXPECT_FALSE(causal("sequences(1): causal")) << "in one line it is seen";
  setup.model.position = PositionKind::t5;
  setup.mask.layers = layersOf({});
  EXPECT_FALSE(computed(setup).config.t5->bidirectional);
  setup.mask.layers = {};
  EXPECT_TRUE(computed(setup).config.t5->bidirectional);
  setup.mask.layers = layersOf({});
  setup.input.cross = true;
  setup.input.contextText = "x y";
  EXPECT_FALSE(computed(setup).causal) << "another text's keys have no place in this one";
}

}  // namespace
}  // namespace headscope::app
