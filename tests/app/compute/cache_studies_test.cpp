#include "app/compute/cache_studies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/compute/cache_field.h"
#include "app/compute/cost_figures.h"
#include "app/compute/paging_study.h"
#include "attention/cache/quantise.h"
#include "render/heatmap.h"

namespace headscope::app {
namespace {

using attention::Matrix;
using attention::NumberFormat;
using ::testing::HasSubstr;

std::shared_ptr<const Snapshot> snapshotOf(const Setup& setup) {
  return std::make_shared<const Snapshot>(computeSnapshot(setup, defaultLimits()));
}

TEST(CacheField, isTheStoredNumbersOverTheirLargest) {
  const auto snapshot = snapshotOf(openingScene().setup);
  const auto& result = snapshot->sequences[0].attention;
  const CacheField field = makeCacheField({snapshot, 0, NumberFormat::int4, 32, 1024});
  EXPECT_EQ(field.rowFactor, 1);
  ASSERT_EQ(field.picture.count(), 2 * result.k.count());
  float most = 0;
  for (Index g = 0; g < result.k.count(); ++g)
    most = std::max(most, attention::quantised(result.k[g], NumberFormat::int4).cwiseAbs().maxCoeff());
  for (Index g = 0; g < result.k.count(); ++g) {
    const Matrix stored = attention::quantised(result.k[g], NumberFormat::int4);
    EXPECT_LE((field.picture[2 * g] - stored.transpose() / most).cwiseAbs().maxCoeff(), 1e-6f);
  }
  EXPECT_EQ(field.read.back(), 2 * 12);
  EXPECT_GT(field.flopsWithout.back(), 11 * field.flops.front());
}

TEST(CacheField, poolsByTheStrongestWithItsSign) {
  const auto snapshot = snapshotOf(openingScene().setup);
  const CacheField fine = makeCacheField({snapshot, 0, NumberFormat::fp32, 32, 1024});
  const CacheField coarse = makeCacheField({snapshot, 0, NumberFormat::fp32, 8, 6});
  EXPECT_EQ(coarse.rowFactor, 4);
  EXPECT_EQ(coarse.colFactor, 2);
  for (Index layer = 0; layer < coarse.picture.count(); ++layer)
    for (Index row = 0; row < 8; ++row)
      for (Index col = 0; col < 6; ++col) {
        const Matrix block = fine.picture[layer].block(4 * row, 2 * col, 4, 2);
        const float value = coarse.picture.at(layer, row, col);
        EXPECT_EQ(std::abs(value), block.cwiseAbs().maxCoeff());
        EXPECT_TRUE((block.array() == value).any());
      }
}

TEST(CacheStudies, strongestCellsStayVisibleBesideMarks) {
  Matrix values(2, 4);
  values << render::kMaskedCell, -3, render::kMaskedCell, render::kMaskedCell,  //
      2, render::kDeadCell, render::kDeadCell, render::kMaskedCell;
  const Matrix pooled = strongestOf(values, 1, 2);
  EXPECT_EQ(pooled(0, 0), -3);
  EXPECT_EQ(pooled(0, 1), render::kDeadCell);
  EXPECT_EQ(strongestOf(values, 8, 8), values);
}

TEST(CacheStudies, layersThatAreTooLargeAreSaidToBe) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->setup = openingScene().setup;
  snapshot->config = configOf(snapshot->setup);
  snapshot->causal = true;
  snapshot->sequences.resize(1);
  snapshot->sequences[0].attention.scores = attention::Stack::uninitialized(9, 2048, 2048);
  const auto refused = studyEviction({snapshot, 0, 0, {}}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("9 heads of 2,048 × 2,048 weights are too many"));
}

TEST(CacheStudies, withoutACausalMaskNothingIsEvicted) {
  app::Setup setup = openingScene().setup;
  setup.mask.layers.clear();
  const auto refused = studyEviction({snapshotOf(setup), 0, 0, {}}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("causal"));
}

TEST(CacheStudies, fourShapesUnderEveryPosition) {
  for (const PositionKind position : {PositionKind::none, PositionKind::rope, PositionKind::alibi}) {
    app::Setup setup = openingScene().setup;
    setup.model.position = position;
    setup.weights.source = WeightSource::random;
    Resources resources(defaultLimits());
    const auto study = studyShapes({snapshotOf(setup), 0, 0, 2, 256}, resources, {});
    ASSERT_TRUE(study.ok()) << study.error().message;
    EXPECT_LT(study->cases[3].output.all, 1e-3) << "a latent as wide as the model is exact";
    EXPECT_GT(study->cases[2].output.all, 0);
    EXPECT_EQ(study->cases[0].parameters, 4u * 256 * 256);
  }
}

TEST(PagingStudy, countsWhatWasEverThere) {
  const auto study = studyPaging({"0: 10 + 6\n2: 20 + 1", 8});
  ASSERT_TRUE(study.ok()) << study.error().message;
  EXPECT_EQ(study->longest, 21);
  EXPECT_EQ(study->mostBlocks, 5);
  EXPECT_EQ(study->mostContiguous, 42);
  EXPECT_FALSE(studyPaging({"0: -1 + 6", 8}).ok());
}

TEST(CostFigures, areOfTheLayerTheCatalogueOrAConfig) {
  const CostCatalogue catalogue = loadCatalogue({});
  Scene scene = openingScene();
  EXPECT_EQ(costShape(scene, catalogue, {})->name, "Llama-3.1-70B");
  scene.cost.model = kThisLayer;
  EXPECT_EQ(costShape(scene, catalogue, {})->heads, scene.setup.model.heads);
  scene.cost.model = "nobody";
  EXPECT_THAT(costShape(scene, catalogue, {}).error().message, HasSubstr("\"nobody\""));
  scene.cost.config = "x/config.json";
  EXPECT_EQ(costShape(scene, catalogue, attention::modelShapes().front())->name, "BERT-base");
}

TEST(CostFigures, gpusThatCantShareGiveWayToFewer) {
  const CostCatalogue catalogue = loadCatalogue({});
  CostSetup setup;
  setup.gpus = 16;
  const auto& shape = *attention::findShape(catalogue.shapes, "Qwen2.5-7B");
  const CostFigures figures = costFigures(setup, shape, catalogue);
  EXPECT_EQ(figures.request.tensorParallel, 4) << "28 heads";
  const auto choices = gpuChoices(figures, catalogue);
  EXPECT_EQ(choices[2].reason, "");
  EXPECT_THAT(choices[3].reason, HasSubstr("28 heads"));
}

}  // namespace
}  // namespace headscope::app
