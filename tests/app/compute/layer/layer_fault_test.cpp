// The stage at which a layer that can't be computed fails.

#include <gtest/gtest.h>

#include "app/compute/layer/layer_parts.h"
#include "attention/masks/expression.h"

namespace headscope::app {
namespace {

LayerFault faultOf(const app::Setup& setup) {
  Resources resources(defaultLimits());
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
  EXPECT_TRUE(snapshot->error);
  return layerFault({snapshot, 0}, resources);
}

TEST(LayerFault, BiasMatrixOfWrongSizeSaysBothSizes) {
  app::Setup setup = openingScene().setup;
  setup.mask.additive.edit().values = attention::Matrix::Ones(2, 3);
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault.step, PipelineStep::bias);
  EXPECT_EQ(fault.found, "2×3");
  EXPECT_EQ(fault.expected, "12×12");
}

TEST(LayerFault, RefusedMaskFailsAtTheMask) {
  app::Setup setup = openingScene().setup;
  setup.model.position = PositionKind::alibi;
  setup.mask.layers = attention::parseMask("documents(documents(causal))").layers;
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault.step, PipelineStep::mask);
  EXPECT_EQ(fault.found, "");
}

TEST(LayerFault, WrongTableWidthStopsAtInput) {
  app::Setup setup = openingScene().setup;
  setup.input.source = EmbeddingSource::table;
  attention::Table& table = setup.input.table.edit();
  table.names = {"a", "b"};
  table.values = attention::Matrix::Ones(2, 5);
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault.step, PipelineStep::input);
  EXPECT_EQ(fault.found, "2×5");
  EXPECT_EQ(fault.expected, "2×256");
}

TEST(LayerFault, UnreadableWeightsFailAtTheProjections) {
  app::Setup setup = openingScene().setup;
  setup.weights.source = WeightSource::file;
  setup.weights.file = "no/such/layer.safetensors";
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault.step, PipelineStep::project);
}

TEST(LayerFault, OversizedLayerStopsAtScores) {
  const app::Setup setup = openingScene().setup;
  Resources resources({std::uint64_t{64} << 10});
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
  ASSERT_TRUE(snapshot->error);
  EXPECT_EQ(layerFault({snapshot, 0}, resources).step, PipelineStep::dot);
}

}  // namespace
}  // namespace headscope::app
