// The stage at which a layer that can't be computed fails, and the results before it.

#include <gtest/gtest.h>

#include "app/compute/layer/layer_parts.h"
#include "attention/masks/expression.h"

namespace headscope::app {
namespace {

std::shared_ptr<const LayerFault> faultOf(const app::Setup& setup) {
  Resources resources(defaultLimits());
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
  EXPECT_TRUE(snapshot->error);
  const auto fault = layerFault({snapshot, 0, 3}, resources);
  EXPECT_TRUE(fault.ok());
  return *fault;
}

bool has(const LayerFault& fault, Stage stage) {
  return fault.pictures[static_cast<std::size_t>(stage)].values.size() > 0;
}

TEST(LayerFault, BiasMatrixOfWrongSizeKeepsEarlierSteps) {
  app::Setup setup = openingScene().setup;
  setup.mask.additive.edit().values = attention::Matrix::Ones(2, 3);
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault->step, PipelineStep::bias);
  EXPECT_EQ(fault->found, "2×3");
  EXPECT_EQ(fault->expected, "12×12");
  app::Setup whole = openingScene().setup;
  Resources resources(defaultLimits());
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(whole, resources));
  const auto head = headParts({*layerParts({snapshot, 0}, resources), 3, 0}, resources);
  for (const Stage stage : {Stage::x, Stage::q, Stage::k, Stage::v, Stage::dots})
    EXPECT_EQ(fault->pictures[static_cast<std::size_t>(stage)].values, (*head)->picture(stage).values);
  for (const Stage stage : {Stage::biased, Stage::scores, Stage::weights, Stage::headOutput, Stage::output})
    EXPECT_FALSE(has(*fault, stage));
}

TEST(LayerFault, RefusedMaskKeepsBiasedScores) {
  app::Setup setup = openingScene().setup;
  setup.model.position = PositionKind::alibi;
  setup.mask.layers = attention::parseMask("documents(documents(causal))").layers;
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault->step, PipelineStep::mask);
  EXPECT_EQ(fault->found, "");
  EXPECT_TRUE(has(*fault, Stage::biased));
  EXPECT_FALSE(has(*fault, Stage::scores));
}

TEST(LayerFault, WrongTableWidthStopsAtInput) {
  app::Setup setup = openingScene().setup;
  setup.input.source = EmbeddingSource::table;
  attention::Table& table = setup.input.table.edit();
  table.names = {"a", "b"};
  table.values = attention::Matrix::Ones(2, 5);
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault->step, PipelineStep::input);
  EXPECT_EQ(fault->found, "2×5");
  EXPECT_EQ(fault->expected, "2×256");
  EXPECT_EQ(fault->queries.size(), 2u);
  EXPECT_FALSE(has(*fault, Stage::x));
}

TEST(LayerFault, UnreadableWeightsKeepEmbeddings) {
  app::Setup setup = openingScene().setup;
  setup.weights.source = WeightSource::file;
  setup.weights.file = "no/such/layer.safetensors";
  const auto fault = faultOf(setup);
  EXPECT_EQ(fault->step, PipelineStep::project);
  EXPECT_TRUE(has(*fault, Stage::x));
  EXPECT_FALSE(has(*fault, Stage::q));
}

TEST(LayerFault, OversizedLayerStopsAtScores) {
  const app::Setup setup = openingScene().setup;
  Resources resources({std::uint64_t{64} << 10});
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
  ASSERT_TRUE(snapshot->error);
  const auto fault = layerFault({snapshot, 0, 0}, resources);
  ASSERT_TRUE(fault.ok());
  EXPECT_EQ((*fault)->step, PipelineStep::dot);
  EXPECT_TRUE(has(**fault, Stage::q));
  EXPECT_FALSE(has(**fault, Stage::dots));
}

}  // namespace
}  // namespace headscope::app
