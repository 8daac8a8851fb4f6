// Kv heads merged from a kv head per head, and how far that moves the heads.

#include <gtest/gtest.h>

#include <cmath>

#include "app/compute/cache/cache_studies.h"
#include "app/scene/scene_json.h"
#include "attention/cache/kv_cache.h"
#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::app {
namespace {

using attention::Stack;

/// The opening scene's 8 heads, merged to `kvHeads`.
app::Setup mergedSetup(Index kvHeads, WeightSource source = WeightSource::planted) {
  app::Setup setup = openingScene().setup;
  setup.weights.source = source;
  setup.weights.merged = true;
  setup.model.kvHeads = kvHeads;
  return setup;
}

TEST(MergedHeads, ProjectionsAreTheMeanOfEachGroup) {
  for (const WeightSource source : {WeightSource::planted, WeightSource::random}) {
    app::Setup setup = mergedSetup(2, source);
    setup.model.bias = true;
    const auto whole = buildProjections(beforeMerge(setup), 12), merged = buildProjections(setup, 12);
    ASSERT_TRUE(whole.ok() && merged.ok());
    EXPECT_EQ(merged->q.weight, whole->q.weight);
    EXPECT_EQ(merged->o.weight, whole->o.weight);
    const Index size = setup.model.headDim;
    ASSERT_EQ(whole->k.weight.rows(), 8 * size);
    ASSERT_EQ(merged->k.weight.rows(), 2 * size);
    ASSERT_EQ(merged->k.bias.size(), 2 * size);
    for (const auto& [one, all] : {std::pair(&merged->k, &whole->k), {&merged->v, &whole->v}})
      for (Index group = 0; group < 2; ++group) {
        attention::Matrix mean = attention::Matrix::Zero(size, setup.model.modelDim);
        attention::Vector bias = attention::Vector::Zero(size);
        for (Index head = 4 * group; head < 4 * group + 4; ++head) {
          mean += all->weight.middleRows(head * size, size) / 4;
          bias += all->bias.segment(head * size, size) / 4;
        }
        EXPECT_LE((one->weight.middleRows(group * size, size) - mean).cwiseAbs().maxCoeff(), 1e-5F);
        EXPECT_LE((one->bias.segment(group * size, size) - bias).cwiseAbs().maxCoeff(), 1e-5F);
      }
    // The cache merges what it keeps in place of making it anew.
    InputCache cache{MemoryBudget(std::uint64_t{1} << 30)};
    EXPECT_EQ((*cache.projections(setup, 12))->k.weight, merged->k.weight);
  }
}

/// Projections and rotations are linear, so averaging W_K and W_V averages K and V.
TEST(MergedHeads, AttentionIsThatOverTheMeanOfKeysAndValues) {
  for (const PositionKind position : {PositionKind::none, PositionKind::rope, PositionKind::sinusoidal})
    for (const WeightSource source : {WeightSource::planted, WeightSource::random}) {
      app::Setup setup = mergedSetup(2, source);
      setup.model.position = position;
      const Snapshot merged = test::computed(setup), whole = test::computed(beforeMerge(setup));
      const attention::AttentionResult& full = whole.sequences[0].attention;
      const auto again = attendAgain(merged.sequences[0], merged.config, attention::mergedByMean(full.k, 2),
                                     attention::mergedByMean(full.v, 2), {});
      for (Index head = 0; head < 8; ++head) {
        const auto& result = merged.sequences[0].attention;
        EXPECT_LE((again.weights[head] - result.weights[head]).cwiseAbs().maxCoeff(),
                  test::weightTolerance(merged));
        EXPECT_LE((again.headOutput[head] - result.headOutput[head]).cwiseAbs().maxCoeff(),
                  test::outputTolerance(merged));
      }
    }
}

TEST(MergedHeads, DriftIsTheShareOfWeightThatMoved) {
  for (const float dropout : {0.0F, 0.5F}) {
    app::Setup setup = mergedSetup(2);
    setup.model.dropout = dropout;
    const Snapshot merged = test::computed(setup), whole = test::computed(beforeMerge(setup));
    const SequenceSnapshot& sequence = merged.sequences[0];
    ASSERT_EQ(sequence.drift.size(), 8U);
    bool anyMoves = false;
    for (Index head = 0; head < 8; ++head) {
      // The first row sees one key.
      const auto apart =
          (sequence.probabilities()[head] - whole.sequences[0].probabilities()[head]).cwiseAbs();
      const float moved = apart.bottomRows(11).sum() / 2 / 11;
      EXPECT_NEAR(sequence.drift[static_cast<std::size_t>(head)].moved, moved, 1e-4F) << head;
      anyMoves = anyMoves || moved > 0.1F;
    }
    EXPECT_TRUE(anyMoves);
  }
}

TEST(MergedHeads, NothingDriftsWithoutAMerge) {
  EXPECT_TRUE(test::computed(mergedSetup(8)).sequences[0].drift.empty());
  EXPECT_TRUE(test::computed(openingScene().setup).sequences[0].drift.empty());
  app::Setup setup = mergedSetup(2);
  setup.weights.planted.assign(8, {attention::Behaviour::uniform, 0});
  const Snapshot snapshot = test::computed(setup);
  for (const HeadDrift& drift : snapshot.sequences[0].drift) {
    EXPECT_LT(drift.moved, 1e-4F);
    EXPECT_TRUE(drift.even) << "no key can move a head that reads all evenly";
  }
}

TEST(MergedHeads, WeightsAreThoseOfAllHeadsWhateverTheKvHeads) {
  const auto four = buildProjections(mergedSetup(4), 12), one = buildProjections(mergedSetup(1), 12);
  ASSERT_TRUE(four.ok() && one.ok());
  EXPECT_EQ(four->q.weight, one->q.weight);
  app::Setup planted = mergedSetup(4), fewer = mergedSetup(1);
  planted.weights.merged = fewer.weights.merged = false;
  EXPECT_NE(buildProjections(planted, 12)->q.weight, buildProjections(fewer, 12)->q.weight)
      << "made anew for so many kv heads";
}

TEST(MergedHeads, EveryLayerOfAStackMerges) {
  app::Setup setup = mergedSetup(2, WeightSource::random);
  setup.model.layers = 2;
  for (const Index layer : {0, 1}) {
    const Snapshot merged = test::computed(withLayer(setup, layer)),
                   whole = test::computed(beforeMerge(withLayer(setup, layer)));
    EXPECT_EQ(merged.sequences[0].attention.k.count(), 2);
    ASSERT_EQ(merged.sequences[0].drift.size(), 8U);
    const auto apart =
        (merged.sequences[0].attention.weights[0] - whole.sequences[0].attention.weights[0]).cwiseAbs();
    EXPECT_NEAR(merged.sequences[0].drift[0].moved, apart.bottomRows(11).sum() / 22, 1e-4F);
  }
}

/// Each head has room for its own behaviour, whoever it shares with afterwards.
TEST(MergedHeads, NeedNoMoreRoomThanApart) {
  app::Setup setup = openingScene().setup;
  setup.model.heads = 64;
  setup.model.headDim = 4;
  EXPECT_NE(plantedMisfit(setup), "");
  setup.weights.merged = true;
  EXPECT_EQ(plantedMisfit(setup), "");
}

TEST(MergedHeads, FilesAndOldScenesStayAsTheyAre) {
  app::Setup setup = mergedSetup(2, WeightSource::file);
  EXPECT_FALSE(mergesKvHeads(setup));
  EXPECT_EQ(beforeMerge(setup), setup);
  const auto old =
      parseScene(R"({"format": "headscope scene", "version": 2, "weights": {"seed": 3}})", "old");
  ASSERT_TRUE(old.ok()) << old.error().message;
  EXPECT_FALSE(old->setup.weights.merged);
}

}  // namespace
}  // namespace headscope::app
