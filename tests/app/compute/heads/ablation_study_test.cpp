// Switched-off heads, the heads' shares, the hull of their values, and patterns from another text.

#include <gtest/gtest.h>

#include "app/compute/heads/head_studies.h"
#include "app/compute/heads/lab_studies.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/model/model_study.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using test::computed;
using test::sameBits;

Scene modelScene() {
  const auto opened = openModel(kLearned);
  EXPECT_TRUE(opened.ok());
  Scene scene = openingScene();
  adoptModel(scene, kLearned, *opened);
  scene.setup.subject.layer = 1;
  return scene;
}

/// The layer of a setup, with everything it was computed from.
struct Parts {
  Resources resources{defaultLimits()};
  std::shared_ptr<const LayerParts> layer;
  explicit Parts(const app::Setup& setup) {
    const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
    EXPECT_FALSE(snapshot->error) << snapshot->error->message;
    layer = *layerParts({snapshot, 0}, resources);
  }
};

TEST(SwitchedHeads, RestoringAfterAblationIsBitExact) {
  for (const app::Setup& setup : {openingScene().setup, modelScene().setup}) {
    const Snapshot before = computed(setup);
    for (const HeadOff by : {HeadOff::zero, HeadOff::mean}) {
      app::Setup ablated = setup;
      const Index layer = shownLayer(setup);
      switchHead(ablated.subject, {layer, 1, by}, true);
      const Snapshot without = computed(ablated);
      EXPECT_FALSE(sameBits(without.sequences[0].attention.output, before.sequences[0].attention.output));
      EXPECT_TRUE(sameBits(without.sequences[0].attention.weights, before.sequences[0].attention.weights))
          << "the head itself does what it did";
      switchHead(ablated.subject, {layer, 1, by}, false);
      EXPECT_TRUE(ablated == setup);
      EXPECT_TRUE(sameBits(computed(ablated).sequences[0].attention, before.sequences[0].attention));
    }
  }
}

TEST(SwitchedHeads, SwitchingAllHeadsOffLeavesTheBias) {
  app::Setup setup = openingScene().setup;
  setup.model.bias = true;
  setup.weights.source = WeightSource::random;
  for (Index head = 0; head < setup.model.heads; ++head)
    switchHead(setup.subject, {0, head, HeadOff::zero}, true);
  switchHead(setup.subject, {0, 99, HeadOff::zero}, true);  // of a wider layer, so ignored here
  const Parts parts(setup);
  const attention::Matrix& output = parts.layer->sequence().attention.output;
  for (Index i = 0; i < output.rows(); ++i)
    EXPECT_LT((output.row(i).transpose() - parts.layer->projections->o.bias).cwiseAbs().maxCoeff(), 1e-6f)
        << "the bias alone";
  EXPECT_TRUE(parts.layer->sequence().decode.applies);
  EXPECT_LT(parts.layer->sequence().decode.maxDifference, 1e-4f)
      << "the cache's heads are compared all the same";
}

TEST(AblationStudy, SharesSumToOneForSyntheticAndModelLayers) {
  app::Setup random = openingScene().setup;
  random.weights.source = WeightSource::random;
  random.model.bias = true;
  for (const app::Setup& setup : {openingScene().setup, random, modelScene().setup}) {
    const Parts parts(setup);
    const AblationStudy study = studyAblation(parts.layer);
    EXPECT_LT(study.shares.gap, 1e-5 * study.shares.largest);
    EXPECT_TRUE(study.off.empty());
    EXPECT_TRUE(study.together.isZero(0));
    for (Index i = 0; i < study.shares.whole.size(); ++i)
      EXPECT_NEAR(study.shares.part.col(i).sum() + study.shares.biasPart[i], 1, 1e-4);
  }
}

TEST(AblationStudy, ReportsJointEffectOfSwitchedHeads) {
  for (app::Setup setup : {openingScene().setup, modelScene().setup}) {
    const Index layer = shownLayer(setup);
    const Parts all(setup);
    switchHead(setup.subject, {layer, 2, HeadOff::zero}, true);
    const Parts one(setup);
    const AblationStudy study = studyAblation(one.layer);
    EXPECT_THAT(study.off, testing::ElementsAre(2));
    for (Index i = 0; i < study.together.size(); ++i)
      EXPECT_NEAR(study.together[i], study.shares.byZero(2, i), 1e-4)
          << "one head together is that head alone";
    EXPECT_LT((study.whole - all.layer->sequence().attention.output).cwiseAbs().maxCoeff(), 1e-4f)
        << "shares are of the layer with every head on";
  }
}

TEST(HullStudy, OutputLiesInsideHullOfValues) {
  for (const app::Setup& setup : {openingScene().setup, modelScene().setup}) {
    const Parts parts(setup);
    const SequenceSnapshot& sequence = parts.layer->sequence();
    for (Index head = 0; head < parts.layer->config().heads; ++head)
      for (Index query = 0; query < sequence.queryLength; ++query) {
        const HullStudy study = studyHull({parts.layer, head, query});
        EXPECT_TRUE(study.mixes);
        EXPECT_LT(study.outside, 1e-5 * study.size) << head << ", " << query;
        EXPECT_EQ(std::count(study.visible.begin(), study.visible.end(), true), query + 1) << "causal";
        for (const Index corner : study.corners) EXPECT_TRUE(study.visible[static_cast<std::size_t>(corner)]);
      }
  }
}

TEST(HullStudy, DetectsWeightsThatDoNotSumToOne) {
  app::Setup setup = openingScene().setup;
  setup.model.dropout = 0.5f;
  const Parts parts(setup);
  EXPECT_FALSE(studyHull({parts.layer, 0, 5}).mixes);
}

TEST(PatchStudy, UsesPatternOfTheOtherText) {
  constexpr const char* kOther = "The street was tired because the animal didn't cross it too .";
  for (const app::Setup& setup : {openingScene().setup, modelScene().setup}) {
    Parts parts(setup);
    app::Setup other = setup;
    other.input.text = std::string(kOther);
    const Snapshot there = computed(other);
    const SequenceSnapshot& here = parts.layer->sequence();
    ASSERT_EQ(there.sequences[0].queryLength, here.queryLength);
    const Index head = 3;
    const auto study = studyPatch({parts.layer, head, std::string(kOther)}, parts.resources);
    ASSERT_TRUE(study.ok()) << study.error().message;
    EXPECT_TRUE((*study)->weights == there.sequences[0].attention.weights[head]);
    const Index kv = parts.layer->config().kvHeadOf(head);
    const attention::Matrix expected = there.sequences[0].attention.weights[head] * here.attention.v[kv];
    EXPECT_LT(((*study)->headOutput - expected).cwiseAbs().maxCoeff(), 1e-5f);
    EXPECT_GT((*study)->headChange.maxCoeff(), 0);
  }
}

TEST(PatchStudy, SameTextChangesNothing) {
  const app::Setup setup = openingScene().setup;
  Parts parts(setup);
  const auto study = studyPatch({parts.layer, 6, setup.input.text}, parts.resources);
  ASSERT_TRUE(study.ok());
  EXPECT_LT((*study)->change.maxCoeff(), 1e-5f);
}

TEST(PatchStudy, RefusesTextsOfOtherLengths) {
  Parts parts(openingScene().setup);
  const auto refused = [&](const std::string& text) {
    const auto study = studyPatch({parts.layer, 0, text}, parts.resources);
    return study ? "" : study.error().message;
  };
  EXPECT_THAT(refused("too short ."), HasSubstr("has 3 tokens, expected 12"));
  EXPECT_THAT(refused(""), HasSubstr("Type another text"));
  EXPECT_THAT(refused("two\nlines"), HasSubstr("2 lines"));
}

TEST(WeightStudy, ColourRangeIgnoresOutliers) {
  app::Setup setup = openingScene().setup;
  setup.model.layers = 2;
  setup.subject.layer = 1;  // an induction head, whose W_Q has one number far above all others
  Parts planted(setup);
  const auto towering = headParts({planted.layer, 0, 0}, planted.resources);
  ASSERT_TRUE(towering.ok());
  const WeightPicture q = studyWeights(*towering).q;
  EXPECT_LT(q.colours, q.most / 8);
  EXPECT_GT(q.colours, 0);
  setup.weights.source = WeightSource::random;
  Parts random(setup);
  const auto even = headParts({random.layer, 0, 0}, random.resources);
  ASSERT_TRUE(even.ok());
  const WeightStudy study = studyWeights(*even);
  EXPECT_EQ(study.q.colours, study.q.most);
  EXPECT_EQ(study.match.colours, study.match.most);
}

TEST(TextLoss, IncreasesWithoutImportantHeads) {
  Scene scene = modelScene();
  scene.setup.input.text =
      std::string("When Anna and Ben went to the river , Ben gave the key to Anna . Anna thanked Ben .");
  Resources resources(defaultLimits());
  const LossQuestion all{modelQuestion(scene.setup), nullptr};
  const auto before = textLoss(all, resources);
  ASSERT_TRUE(before.ok()) << before.error().message;
  const TextLoss& base = **before;
  EXPECT_TRUE(std::isnan(base.loss.back())) << "nothing follows the last token";
  double mean = 0;
  for (std::size_t i = 0; i + 1 < base.loss.size(); ++i) mean += static_cast<double>(base.loss[i]);
  EXPECT_NEAR(base.mean, mean / static_cast<double>(base.loss.size() - 1), 1e-6);
  for (Index layer = 0; layer < 3; ++layer)
    for (Index head = 0; head < 6; ++head)
      switchHead(scene.setup.subject, {layer, head, HeadOff::zero}, true);
  const auto without = textLoss({modelQuestion(scene.setup), *before}, resources);
  ASSERT_TRUE(without.ok());
  EXPECT_GT((*without)->mean, base.mean);
  const ModelQuestion question = modelQuestion(scene.setup);
  EXPECT_EQ((*without)->guess.size(), base.guess.size());
}

}  // namespace
}  // namespace headscope::app
