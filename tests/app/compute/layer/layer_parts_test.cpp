// The inputs that a layer was computed from: they lead to the numbers on screen.

#include "app/compute/layer/layer_parts.h"

#include <gtest/gtest.h>

#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"

namespace headscope::app {
namespace {

void expectLeadsToTheShown(const Setup& setup, bool rotated) {
  Resources resources(defaultLimits());
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
  ASSERT_FALSE(snapshot->error) << snapshot->error->message;
  const auto layer = layerParts({snapshot, 0}, resources);
  ASSERT_TRUE(layer.ok()) << layer.error().message;
  const attention::AttentionConfig& config = snapshot->config;
  const attention::AttentionResult& result = snapshot->sequences.front().attention;
  const Index head = config.heads - 1, kv = config.kvHeadOf(head);
  const auto answer = headParts({*layer, head, 0}, resources);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const std::shared_ptr<const HeadParts> parts = *answer;
  const auto mapped = [](const attention::Matrix& x, const MapRows& map) -> attention::Matrix {
    return (x * map.weight.transpose()).rowwise() + map.bias.transpose();
  };
  const float tolerance = 1e-4f * (1 + result.v[kv].cwiseAbs().maxCoeff());
  EXPECT_LT((mapped((*layer)->keySource(), parts->v) - result.v[kv]).cwiseAbs().maxCoeff(), tolerance);
  if (!rotated) {
    const float ofQ = 1e-4f * (1 + result.q[head].cwiseAbs().maxCoeff());
    EXPECT_LT((mapped((*layer)->x, parts->q) - result.q[head]).cwiseAbs().maxCoeff(), ofQ);
  }
  attention::Matrix output = attention::mergeHeads(result.headOutput) * parts->outputRows.transpose();
  output.rowwise() += parts->outputBias.transpose();
  const float ofOutput = 1e-4f * (1 + result.output.cwiseAbs().maxCoeff());
  EXPECT_LT((output - result.output.leftCols(output.cols())).cwiseAbs().maxCoeff(), ofOutput);
  EXPECT_EQ(parts->wo.topRows(parts->outputRows.rows()),
            parts->outputRows.middleCols(head * config.headDim, config.headDim));
}

TEST(LayerParts, ReproducesTheOpeningScene) {
  expectLeadsToTheShown(openingScene().setup, false);
}

TEST(LayerParts, ReproducesCrossAttentionWithBiases) {
  app::Setup setup = openingScene().setup;
  setup.input.cross = true;
  setup.input.contextText = kSampleContext;
  setup.weights.source = WeightSource::random;
  setup.model.bias = true;
  expectLeadsToTheShown(setup, false);
}

TEST(LayerParts, ReproducesLayersOfACheckpoint) {
  const auto opened = openModel(kLearned);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  for (const Index layer : {0, 2}) {
    Scene scene = openingScene();
    adoptModel(scene, kLearned, *opened);
    scene.setup.subject.layer = layer;
    expectLeadsToTheShown(scene.setup, true);
  }
}

}  // namespace
}  // namespace headscope::app
