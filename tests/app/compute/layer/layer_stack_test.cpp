// Several synthetic layers: pages of one layer and the overview of all show the same numbers, all sliders act
// on all layers, and one sentence explains what can't be computed.

#include "app/compute/layer/layer_stack.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "app/compute/heads/head_studies.h"
#include "app/compute/map/map_source.h"
#include "app/compute/model/model_study.h"
#include "app/scene/scene_json.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"

namespace headscope::test {
namespace {

using namespace app;

app::Setup stackOf(Index layers, const std::string& text, WeightSource source = WeightSource::random) {
  app::Setup setup = openingScene().setup;
  setup.model.layers = layers;
  setup.weights.source = source;
  setup.input.text = text;
  return setup;
}

ModelStudy studied(const app::Setup& setup, Index sequence = 0) {
  Resources resources(kRoomy);
  ModelRunner runner;
  auto study = runner.run(modelQuestion(setup, sequence), resources, {}, {});
  EXPECT_TRUE(study.ok()) << study.error().message;
  return study.ok() ? *std::move(study) : ModelStudy{};
}

TEST(MadeStack, FirstLayerMatchesASingleLayerExactly) {
  const std::string text = "the cat sat on the mat .";
  const Snapshot alone = computed(stackOf(1, text)), first = computed(stackOf(3, text));
  EXPECT_TRUE(sameBits(alone.sequences[0].attention, first.sequences[0].attention));
  // Planted heads attend as before; embeddings reserve space for what layers write, which values read.
  const Snapshot planted = computed(stackOf(1, text, WeightSource::planted)),
                 below = computed(stackOf(2, text, WeightSource::planted));
  for (Index h = 0; h < 7; ++h)  // the last head is random over everything an embedding holds
    EXPECT_LT((planted.sequences[0].attention.weights[h] - below.sequences[0].attention.weights[h])
                  .cwiseAbs()
                  .maxCoeff(),
              1e-6f)
        << "head " << h;
}

TEST(MadeStack, LayerPagesAndOverviewShowSameWeights) {
  app::Setup setup = stackOf(4, "one two three two one\nfour five four\nsix");
  for (const PositionKind position :
       {PositionKind::sinusoidal, PositionKind::rope, PositionKind::alibi, PositionKind::t5})
    for (const bool norm : {false, true}) {
      setup.model.position = position;
      setup.model.norm = norm;
      setup.model.bias = norm;
      setup.model.sharpness = 2;
      setup.model.softcap = norm ? 3 : 0;
      setup.subject.switchedOff = {{0, 1, HeadOff::zero}, {2, 0, HeadOff::mean}};
      for (const Index line : {0, 1}) {
        const ModelStudy study = studied(setup, line);
        ASSERT_EQ(std::ssize(study.layers), 4);
        for (Index layer = 0; layer < 4; ++layer) {
          setup.subject.layer = layer;
          const Snapshot page = computed(setup);
          const SequenceSnapshot& shown = page.sequences[static_cast<std::size_t>(line)];
          const attention::Stack& all = study.layers[static_cast<std::size_t>(layer)]->weights;
          ASSERT_EQ(all.rows(), shown.queryLength);
          for (Index h = 0; h < all.count(); ++h)
            EXPECT_LT((all[h] - shown.attention.weights[h].topLeftCorner(all.rows(), all.cols()))
                          .cwiseAbs()
                          .maxCoeff(),
                      2e-5f)
                << "layer " << layer << " head " << h << " line " << line << " position "
                << static_cast<int>(position);
        }
      }
    }
}

/// `words` different words, three times in a row.
std::string repeatedWords(Index words) {
  std::string text;
  for (Index i = 0; i < 3 * words; ++i) text += fmt::format("w{} ", 7 * (i % words) + 3);
  return text;
}

TEST(MadeStack, DefaultInductionNeedsTwoLayers) {
  for (const Index words : {6, 20}) {
    const app::Setup setup = stackOf(2, repeatedWords(words), WeightSource::planted);
    const ModelStudy study = studied(setup);
    const HeadSummary& head = study.layers[1]->heads[0];
    EXPECT_GT(head.profile["induction"].raw, 0.95f) << words << " words";
    EXPECT_EQ(attention::describe(head.label(0.3f)), "induction");
    for (const HeadSummary& below : study.layers[0]->heads)
      EXPECT_LT(below.profile["induction"].raw, 0.5f) << "nothing in the first layer";
    app::Setup without = setup;
    without.subject.switchedOff = {{0, 0, HeadOff::zero}};
    EXPECT_LT(studied(without).layers[1]->heads[0].profile["induction"].raw, 0.2f)
        << "without the head that looks one word back";
    app::Setup single = setup;
    single.model.layers = 1;
    single.weights.planted[0] = {attention::Behaviour::induction};
    const Snapshot alone = computed(single);
    EXPECT_LT(alone.sequences[0].profiles[0]["induction"].raw, 0.2f);
  }
}

TEST(MadeStack, SlidersAlsoAffectEarlierLayers) {
  app::Setup setup = stackOf(2, "a b c d e f");
  setup.subject.layer = 1;
  const Snapshot before = computed(setup);
  const auto inputsOf = [](const app::Setup& changed) {
    Resources resources(kRoomy);
    const auto inputs = shownInputs(changed, tokenizeBatch(changed).lines, resources);
    EXPECT_TRUE(inputs.ok());
    return (**inputs)[0].x;
  };
  const attention::Matrix x = inputsOf(setup);
  std::vector<app::Setup> changes(5, setup);
  changes[0].model.sharpness = 3;
  changes[1].mask.layers = {};
  changes[2].weights.seed = 8;
  changes[3].subject.switchedOff = {{0, 0, HeadOff::zero}};
  changes[4].model.norm = true;
  for (const app::Setup& changed : changes) EXPECT_FALSE(sameBits(x, inputsOf(changed)));
  EXPECT_TRUE(sameBits(x, inputsOf(setup))) << "and the same again is the same";
}

TEST(MadeStack, PartsMapAndDecodeMatchSnapshot) {
  app::Setup setup = stackOf(3, "the cat sat on the mat and the dog on the cat");
  setup.subject.layer = 2;
  setup.model.norm = true;
  Resources resources(kRoomy);
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
  ASSERT_FALSE(snapshot->error) << snapshot->error->message;
  const attention::AttentionResult& result = snapshot->sequences[0].attention;
  EXPECT_TRUE(snapshot->sequences[0].decode.applies);
  EXPECT_LT(snapshot->sequences[0].decode.maxDifference, 1e-4f);
  const auto layer = layerParts({snapshot, 0}, resources);
  ASSERT_TRUE(layer.ok()) << layer.error().message;
  const auto parts = headParts({*layer, 1, 0}, resources);
  ASSERT_TRUE(parts.ok());
  const attention::Matrix q = (*layer)->x * (*parts)->q.weight.transpose();
  EXPECT_LT((q - result.q[1]).cwiseAbs().maxCoeff(), 1e-4f) << "X is what layer 2 reads";
  Scene scene = openingScene();
  scene.setup = setup;
  const auto map = buildMapHead(mapQuestion(scene, 1), resources, {});
  ASSERT_TRUE(map.ok()) << map.error().message;
  EXPECT_LT(((*map)->field.q - result.q[1]).cwiseAbs().maxCoeff(), 1e-4f);
}

TEST(MadeStack, RolloutIsProductOfLayers) {
  app::Setup setup = stackOf(3, "one two three four");
  const ModelStudy study = studied(setup);
  for (const Index last : {0, 2}) {
    setup.subject.layer = last;
    Resources resources(kRoomy);
    const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
    const auto layer = layerParts({snapshot, 0}, resources);
    ASSERT_TRUE(layer.ok());
    const auto views = studyViews({*layer, 0, 1}, resources);
    ASSERT_TRUE(views.ok());
    attention::Matrix expected = attention::Matrix::Identity(4, 4);
    for (Index l = 0; l <= last; ++l) {
      attention::Matrix step = 0.5f * attention::Matrix::Identity(4, 4);
      const attention::Stack& weights = study.layers[static_cast<std::size_t>(l)]->weights;
      for (Index h = 0; h < weights.count(); ++h)
        step += weights[h] * (0.5f / static_cast<float>(weights.count()));
      expected = step * expected;
    }
    const attention::Matrix& shown = (**views)[HeadPicture::rollout].values;
    for (Index i = 0; i < 4; ++i)
      for (Index j = 0; j < 4; ++j) {
        if (j > i)
          EXPECT_EQ(shown(i, j), -INFINITY) << "nothing comes through from the future";
        else
          EXPECT_NEAR(shown(i, j), expected(i, j), 1e-5) << i << ", " << j;
      }
  }
}

TEST(MadeStack, RefusesStacksOverBudget) {
  app::Setup setup = stackOf(4, "a few words");
  setup.model.linked = false;
  setup.model.heads = setup.model.kvHeads = kMaxHeads;
  setup.model.headDim = kMaxHeadDim;
  setup.model.modelDim = kMaxModelDim;
  setup.subject.layer = 3;
  const std::string message = refused(setup).message;
  EXPECT_EQ(
      message,
      "The weights of 4 layers, each of 64 heads over 64 of size 512 on model dim 4096, would need 8 GiB; "
      "they can use half of the budget of 1 GiB. Use fewer layers, heads or dimensions.");
  Resources resources(kRoomy);
  ModelRunner runner;
  const auto study = runner.run(modelQuestion(setup), resources, {}, {});
  ASSERT_FALSE(study.ok());
  EXPECT_EQ(study.error().message, message);
}

TEST(MadeStack, RoundTripsAndReportsContradictions) {
  Scene scene = openingScene();
  scene.setup = stackOf(3, "a b a b", WeightSource::planted);
  scene.setup.model.norm = true;
  scene.setup.subject.layer = 2;
  plantHead(scene.setup, 1, {attention::Behaviour::offset, 3});
  const auto read = parseScene(formatScene(scene), "scene.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->setup, scene.setup);
  EXPECT_EQ(plantedHeads(read->setup)[1].offset, 3);
  EXPECT_EQ(plantedHeads(withLayer(read->setup, 1))[1], defaultPlant(1, 1));
  const auto refusal = [](const std::string& json) {
    const auto broken = parseScene(json, "scene.json");
    return broken ? std::string() : broken.error().message;
  };
  const std::string head = R"({"format": "headscope scene", "version": 2, )";
  EXPECT_THAT(refusal(head + R"("model": {"layers": 2}, "input": {"cross": true}})"),
              HasSubstr("input.cross is true, but the 2 layers of model.layers read one text"));
  EXPECT_THAT(refusal(head + R"("model": {"layers": 2}, "subject": {"layer": 2}})"),
              HasSubstr("subject.layer is 2, expected 0 to 1: model.layers is 2"));
  EXPECT_THAT(refusal(head + R"("model": {"layers": 5}})"), HasSubstr("model.layers is 5, expected 1 to 4"));
  EXPECT_THAT(refusal(head + R"("weights": {"planted_above": [7]}})"),
              HasSubstr("weights.planted_above[0] is 7, expected a list"));
}

TEST(MadeStack, SingleLayerIgnoresLayerNumber) {
  app::Setup setup = stackOf(1, "a b c");
  const Snapshot before = computed(setup);
  setup.subject.layer = 3;
  EXPECT_TRUE(sameBits(before.sequences[0].attention, computed(setup).sequences[0].attention));
}

}  // namespace
}  // namespace headscope::test
