#include "app/compute/cache/cache_studies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/compute/cost/cost_figures.h"
#include "app/compute/layer/layer_inputs.h"
#include "attention/cache/kv_cache.h"
#include "attention/models/config/model_catalogue.h"
#include "render/heatmap.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using attention::Matrix;
using attention::NumberFormat;

std::shared_ptr<const Snapshot> snapshotOf(const Setup& setup) {
  return std::make_shared<const Snapshot>(computeSnapshot(setup, defaultLimits()));
}

TEST(CacheField, NormalisesStoredNumbersByTheirLargest) {
  const auto snapshot = snapshotOf(openingScene().setup);
  const auto& result = snapshot->sequences[0].attention;
  const CacheField field = makeCacheField({snapshot, 0, NumberFormat::int4, 32, 1024});
  EXPECT_EQ(field.grain.dims, 1);
  ASSERT_EQ(field.picture.count(), 2 * result.k.count());
  float most = 0;
  for (Index g = 0; g < result.k.count(); ++g)
    most = std::max(most, attention::quantised(result.k[g], NumberFormat::int4).cwiseAbs().maxCoeff());
  for (Index g = 0; g < result.k.count(); ++g) {
    const Matrix stored = attention::quantised(result.k[g], NumberFormat::int4);
    EXPECT_LE((field.picture[2 * g] - stored.transpose() / most).cwiseAbs().maxCoeff(), 1e-6f);
  }
  EXPECT_EQ(field.read.back(), 2 * 12);
  EXPECT_GT(field.uncachedFlops.back(), 11 * field.flops.front());
}

/// fp16 ends at 65,504. Larger numbers become infinite and weights computed from them NaN, so the error must
/// not be 0.
TEST(PrecisionStudy, OverflowingKeysGiveNanError) {
  app::Setup setup = openingScene().setup;
  setup.input.source = EmbeddingSource::table;
  attention::Table& table = setup.input.table.edit();
  table.names = {"a", "b", "c", "d"};
  table.values = Matrix::Constant(4, setup.model.modelDim, 3e5f);
  for (Index row = 0; row < 4; ++row) table.values.row(row) *= 1 + 0.1f * static_cast<float>(row);
  setup.weights.source = WeightSource::random;
  setup.mask.layers = {};
  const auto snapshot = snapshotOf(setup);
  ASSERT_FALSE(snapshot->error) << snapshot->error->message;
  float most = 0;
  for (Index g = 0; g < snapshot->config.kvHeads; ++g)
    most = std::max(most, snapshot->sequences[0].attention.k[g].cwiseAbs().maxCoeff());
  ASSERT_GT(most, 65504);
  Resources resources(defaultLimits());
  const auto study = studyPrecision({snapshot, 0, 0}, resources, {});
  ASSERT_TRUE(study.ok()) << study.error().message;
  const PrecisionCase& half = study->cases[static_cast<std::size_t>(NumberFormat::fp16)];
  EXPECT_TRUE(std::isnan(half.weightError)) << half.weightError;
  EXPECT_EQ(study->cases[0].weightError, 0);
  EXPECT_EQ(std::ssize(half.headErrors), snapshot->config.heads);
}

TEST(CacheField, PoolsByLargestMagnitudeWithSign) {
  const auto snapshot = snapshotOf(openingScene().setup);
  const CacheField fine = makeCacheField({snapshot, 0, NumberFormat::fp32, 32, 1024});
  const CacheField coarse = makeCacheField({snapshot, 0, NumberFormat::fp32, 8, 6});
  EXPECT_EQ(coarse.grain.dims, 4);
  EXPECT_EQ(coarse.grain.tokens, 2);
  for (Index layer = 0; layer < coarse.picture.count(); ++layer)
    for (Index row = 0; row < 8; ++row)
      for (Index col = 0; col < 6; ++col) {
        const Matrix block = fine.picture[layer].block(4 * row, 2 * col, 4, 2);
        const float value = coarse.picture.at(layer, row, col);
        EXPECT_EQ(std::abs(value), block.cwiseAbs().maxCoeff());
        EXPECT_TRUE((block.array() == value).any());
      }
}

TEST(CacheStudies, PoolingKeepsStrongestCellsOverMarks) {
  Matrix values(2, 4);
  values << render::kMaskedCell, -3, render::kMaskedCell, render::kMaskedCell,  //
      2, render::kDeadCell, render::kDeadCell, render::kMaskedCell;
  const Matrix pooled = strongestOf(values, 2, 2);
  EXPECT_EQ(pooled(0, 0), -3);
  EXPECT_EQ(pooled(0, 1), render::kDeadCell);
  EXPECT_EQ(strongestOf(values, 1, 1), values);
}

TEST(CacheStudies, PoolingKeepsNaNInfinityAndThePositiveOfOppositeValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                  kNan = std::numeric_limits<float>::quiet_NaN();
  Matrix values(2, 8);
  values << -3, 3, 1, kInfinity, kNan, 1, 0, render::kMaskedCell,  //
      2, -3, render::kMaskedCell, 2, kInfinity, 5, render::kDeadCell, render::kMaskedCell;
  const Matrix pooled = strongestOf(values, 2, 2);
  EXPECT_EQ(pooled(0, 0), 3);
  EXPECT_EQ(pooled(0, 1), kInfinity);
  EXPECT_TRUE(std::isnan(pooled(0, 2)));
  EXPECT_EQ(pooled(0, 3), 0);
}

TEST(CacheStudies, ReportsAndReleasesMemoryOverBudget) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->setup = openingScene().setup;
  snapshot->setup.model.kvHeads = snapshot->setup.model.heads;
  snapshot->config = configOf(snapshot->setup);
  snapshot->causal = true;
  snapshot->sequences.resize(1);
  snapshot->sequences[0].attention.scores = attention::Stack::uninitialized(8, 1024, 1024);
  Resources resources(Limits{std::uint64_t{100} << 20});
  const MemoryShare taken = resources.memory.count(std::uint64_t{60} << 20);
  for (const std::string& message :
       {studyEviction({snapshot, 0, 0, {}}, resources, {}).error().message,
        studyPrecision({snapshot, 0, 0}, resources, {}).error().message,
        studyShapes({snapshot, 0, 0, 1, 64, 16}, resources, {}).error().message}) {
    EXPECT_THAT(message, HasSubstr("1,024 × 1,024"));
    EXPECT_THAT(message, HasSubstr("the budget is 100"));
    EXPECT_THAT(message, HasSubstr("60"));
    EXPECT_THAT(message, HasSubstr("Use fewer tokens or heads."));
  }
  EXPECT_EQ(resources.memory.used(), std::uint64_t{60} << 20);
}

TEST(CacheStudies, CountsExactlyTheMemoryOfPictures) {
  Resources resources(defaultLimits());
  const auto snapshot = snapshotOf(openingScene().setup);
  {
    const auto precision = studyPrecision({snapshot, 0, 0}, resources, {});
    ASSERT_TRUE(precision.ok());
    EXPECT_EQ(resources.memory.used(),
              4u * static_cast<std::uint64_t>(precision->keys.size() + precision->differences.size()));
    const attention::EvictionRules rules{attention::EvictionPolicy::window, 4, 1};
    const auto eviction = studyEviction({snapshot, 0, 0, {rules, rules}}, resources, {});
    ASSERT_TRUE(eviction.ok()) << eviction.error().message;
  }
  EXPECT_EQ(resources.memory.used(), 0u);
}

TEST(CacheStudies, StudiesShortLinesWithoutPadding) {
  app::Setup alone = openingScene().setup, batch = alone;
  alone.input.text = "the street was tired";
  batch.input.text = "The animal didn't cross the street\nthe street was tired";
  // Planted heads depend on the longest line.
  alone.weights.source = batch.weights.source = WeightSource::random;
  Resources resources(defaultLimits());
  const auto own = snapshotOf(alone), both = snapshotOf(batch);
  attention::EvictionRules rules{attention::EvictionPolicy::window, 2, 1};
  const auto first = studyEviction({own, 0, 0, {rules, rules}}, resources, {}),
             second = studyEviction({both, 1, 0, {rules, rules}}, resources, {});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(second->cases[0].entries, first->cases[0].entries);
  EXPECT_EQ(second->weights.rows(), 4);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(second->cases[0].outputError[i], first->cases[0].outputError[i], 1e-5);
  const auto shapes = studyShapes({both, 1, 0, 2, 64, 16}, resources, {}),
             shapesAlone = studyShapes({own, 0, 0, 2, 64, 16}, resources, {});
  ASSERT_TRUE(shapes.ok() && shapesAlone.ok());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shapes->cases[i].output.perToken.size(), 4u);
    EXPECT_NEAR(shapes->cases[i].output.all, shapesAlone->cases[i].output.all, 1e-4);
  }
  const auto precision = studyPrecision({both, 1, 0}, resources, {});
  ASSERT_TRUE(precision.ok());
  EXPECT_EQ(precision->keys.cols(), 4);
  const CacheField field = makeCacheField({both, 1, NumberFormat::fp32, 32, 1024});
  EXPECT_EQ(field.flops.size(), 4u);
  EXPECT_EQ(field.read.back(), 2 * 4);
}

TEST(CacheStudies, EvictionNeedsCausalMask) {
  app::Setup setup = openingScene().setup;
  setup.mask.layers = {};
  Resources resources(defaultLimits());
  const auto refused = studyEviction({snapshotOf(setup), 0, 0, {}}, resources, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("causal"));
}

constexpr PositionKind kPositions[] = {PositionKind::none, PositionKind::sinusoidal, PositionKind::rope,
                                       PositionKind::alibi, PositionKind::t5};

/// MLA for the opening layer with random weights.
ShapeCase latentCase(PositionKind position, Index latent, Index rotary) {
  app::Setup setup = openingScene().setup;
  setup.model.position = position;
  setup.model.bias = true;
  setup.weights.source = WeightSource::random;
  Resources resources(defaultLimits());
  const auto study = studyShapes({snapshotOf(setup), 0, 0, 2, latent, rotary}, resources, {});
  EXPECT_TRUE(study.ok()) << study.error().message;
  EXPECT_GT(study->cases[2].output.all, 0);
  EXPECT_EQ(study->cases[0].parameters, 4u * 256 * 256);
  return study->cases.back();
}

TEST(CacheStudies, FullLatentIsExactForEveryPositionKind) {
  for (const PositionKind position : kPositions) {
    const bool turns = position == PositionKind::rope;
    const ShapeCase mla = latentCase(position, 256, 256);
    EXPECT_EQ(mla.missing, "");
    EXPECT_LT(mla.output.all, 1e-3) << static_cast<int>(position);
    EXPECT_EQ(mla.rotary, turns ? 256 : 0) << "only RoPE turns keys";
    EXPECT_EQ(mla.numbersPerToken, mla.latent + mla.rotary);
    EXPECT_EQ(mla.parameters, 2u * 256 * 256 + 256u * 8 * static_cast<unsigned>(mla.rotary) +
                                  256u * static_cast<unsigned>(mla.numbersPerToken) +
                                  static_cast<unsigned>(mla.latent) * 2 * 256);
  }
}

TEST(CacheStudies, LargerRotaryKeyReducesError) {
  double before = 1e9;
  for (const Index rotary : {0, 16, 64, 256}) {
    const ShapeCase mla = latentCase(PositionKind::rope, 256, rotary);
    EXPECT_EQ(mla.rotary, rotary);
    EXPECT_LT(mla.output.all, before) << rotary;
    before = mla.output.all;
  }
}

TEST(PagingStudy, ReportsPeakLengthAndBlocks) {
  const MemoryBudget memory(std::uint64_t{1} << 20);
  const auto study = studyPaging({"0: 10 + 6\n2: 20 + 1", 8}, memory);
  ASSERT_TRUE(study.ok()) << study.error().message;
  EXPECT_EQ(study->longest, 21);
  EXPECT_EQ(study->mostBlocks, 5);
  EXPECT_EQ(study->mostContiguous, 42);
  EXPECT_FALSE(studyPaging({"0: -1 + 6", 8}, memory).ok());
}

TEST(PagingStudy, CountsStepsAgainstBudget) {
  const MemoryBudget memory(std::uint64_t{1} << 16);
  {
    const auto study = studyPaging({"0: 10 + 6", 8}, memory);
    ASSERT_TRUE(study.ok());
    std::uint64_t bytes = 0;
    for (const auto& step : study->steps) {
      bytes += sizeof step + 8 * (step.running.size() + step.tokens.size() + step.owners.size());
      for (const auto& table : step.tables) bytes += sizeof table + 8 * table.size();
    }
    EXPECT_GE(memory.used(), bytes) << "counted at least for what there is";
  }
  EXPECT_EQ(memory.used(), 0u);
  const auto refused = studyPaging({"0: 1000 + 1000", 8}, memory);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("the budget is 64"));
}

TEST(CostFigures, ReadsShapeFromLayerCatalogueOrConfig) {
  const CostCatalogue catalogue = loadCatalogue({});
  Scene scene = openingScene();
  EXPECT_EQ(costShape(scene, catalogue, {})->name, "Llama-3.1-70B");
  scene.cost.model = kThisLayer;
  EXPECT_EQ(costShape(scene, catalogue, {})->heads, scene.setup.model.heads);
  scene.cost.model = "nobody";
  EXPECT_THAT(costShape(scene, catalogue, {}).error().message, HasSubstr("\"nobody\""));
  scene.cost.config = "x/config.json";
  EXPECT_EQ(costShape(scene, catalogue, attention::modelShapes().front())->name, "BERT-base");
  scene.cost.device = "H1000";
  EXPECT_THAT(costShape(scene, catalogue, {}).error().message,
              testing::AllOf(HasSubstr("cost.device is \"H1000\", expected one of "), HasSubstr("H100")));
}

TEST(CostFigures, UsesFewerGpusWhenHeadsDoNotDivide) {
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
