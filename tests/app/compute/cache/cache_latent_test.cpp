// Synthetic layers and models' layers converted to latent attention.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "attention/cache/kv_cache.h"
#include "attention/core/positions.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/attention/models/golden_models.h"

namespace headscope::test {
namespace {

using namespace app;
using attention::Matrix;
using attention::Stack;

std::shared_ptr<const Snapshot> computedLayer(const app::Setup& setup) {
  return std::make_shared<const Snapshot>(computed(setup));
}

/// ‖Δ‖/‖o‖ of a layer after conversion to latent attention.
double latentError(const std::shared_ptr<const Snapshot>& snapshot, Index latent, Index rotary) {
  Resources resources(kRoomy);
  const auto heads = attendLatent(snapshot, 0, latent, rotary, resources, {});
  EXPECT_TRUE(heads.ok()) << heads.error().message;
  return outputError(snapshot->sequences[0].attention.headOutput, heads->result.headOutput).all;
}

class LatentOfModels : public testing::TestWithParam<std::string> {};

TEST_P(LatentOfModels, FullLatentIsExactInEveryLayer) {
  const std::string folder = attention::test::goldenModel(GetParam()).string();
  const auto opened = openModel(folder);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  for (Index layer = 0; layer < (*opened)->config().layerCount(); ++layer) {
    Scene scene = openingScene();
    scene.setup.input.text = "the cat";
    adoptModel(scene, folder, *opened);
    scene.setup.subject.layer = layer;
    ASSERT_TRUE(fitSubject(scene).ok());
    const auto snapshot = computedLayer(scene.setup);
    ASSERT_FALSE(snapshot->error) << snapshot->error->message;
    const Index all = snapshot->config.modelDim;
    EXPECT_LT(latentError(snapshot, all, 1 << 20), 1e-3) << "layer " << layer;
    EXPECT_GT(latentError(snapshot, 2, 0), 1e-3) << "two numbers are too few for layer " << layer;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, LatentOfModels, testing::ValuesIn(attention::test::kGoldenFamilies),
                         [](const auto& family) { return family.param; });

TEST(CacheLatent, ReportsSizeAndErrorForLearnedModel) {
  Scene scene = openingScene();
  adoptModel(scene, kLearned, *openModel(kLearned));
  scene.setup.subject.layer = 2;
  const auto snapshot = computedLayer(scene.setup);
  Resources resources(kRoomy);
  const auto study = studyShapes({snapshot, 0, 0, 1, 32, 8}, resources, {});
  ASSERT_TRUE(study.ok()) << study.error().message;
  const ShapeCase& mla = study->cases.back();
  EXPECT_EQ(mla.missing, "");
  EXPECT_EQ(mla.numbersPerToken, 40);
  EXPECT_GT(mla.output.all, 0);
  EXPECT_LT(mla.output.all, 2);
}

/// MLA by DeepSeek-V2's own equations (section 2.1.3), element by element: scores are (q_C·k_C + q_R·k_R)/√s
/// with one k_R per token for all heads, and only c and k_R are cached.
TEST(CacheLatent, ScoresMatchDeepSeekEquations) {
  app::Setup setup = openingScene().setup;
  setup.input.text = "the cat saw the dog";
  setup.model.position = PositionKind::rope;
  setup.model.bias = true;
  setup.model.kvHeads = 4;
  setup.weights.source = WeightSource::random;
  const auto snapshot = computedLayer(setup);
  const attention::AttentionConfig& config = snapshot->config;
  Resources resources(kRoomy);
  constexpr Index kLatent = 40, kRotary = 12;
  const auto heads = attendLatent(snapshot, 0, kLatent, kRotary, resources, {});
  ASSERT_TRUE(heads.ok());
  EXPECT_EQ(heads->latent, kLatent);
  EXPECT_EQ(heads->rotary, kRotary);
  const TokenBatch batch = tokenizeBatch(setup);
  const auto maps = *resources.inputs.projections(setup, 5);
  const Matrix x = (**resources.inputs.inputs(setup, batch.lines))[0].x;
  const Index n = x.rows(), s = config.headDim;
  const Matrix table = attention::ropeTable(0, n, s, *config.ropeTheta);
  const attention::LatentMaps through =
      attention::latentMaps(*maps, config.kvHeads, s, table, kLatent, kRotary);
  // The cache: c and k_R of each token, whose pairs are rotated by its position.
  const Matrix cached = x * through.latent;
  Matrix shared = maps->k.apply(x) * through.rotary;
  const Matrix& u = through.rotary;
  std::vector<Index> pairs;
  for (Index i = 0; i < kRotary; i += 2) {
    Index row = 0;
    u.col(i).cwiseAbs().maxCoeff(&row);
    pairs.push_back(row % (s / 2));
  }
  const auto turn = [&](Eigen::Ref<Matrix> rows) {
    for (Index token = 0; token < n; ++token)
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const auto at = static_cast<Index>(2 * p);
        const double angle = static_cast<double>(token) *
                             std::pow(10000.0, -2.0 * static_cast<double>(pairs[p]) / static_cast<double>(s));
        const auto a = static_cast<double>(rows(token, at)), b = static_cast<double>(rows(token, at + 1));
        rows(token, at) = static_cast<float>(a * std::cos(angle) - b * std::sin(angle));
        rows(token, at + 1) = static_cast<float>(b * std::cos(angle) + a * std::sin(angle));
      }
  };
  turn(shared);
  const Matrix queries = maps->q.apply(x);
  Matrix rest = maps->k.apply(cached * through.latent.transpose());
  rest -= (rest * u) * u.transpose();
  for (Index head = 0; head < config.heads; ++head) {
    const Index g = config.kvHeadOf(head);
    const Matrix q = queries.middleCols(head * s, s);
    Matrix rotary = q * u.middleRows(g * s, s);  // the queries' rotary part, as many numbers as the key's
    turn(rotary);
    const Matrix scores = (q * rest.middleCols(g * s, s).transpose() + rotary * shared.transpose()) *
                          config.effectiveScale() * config.sharpness;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j <= i; ++j)
        EXPECT_NEAR(heads->result.scores.at(head, i, j), scores(i, j), 2e-3)
            << "head " << head << ", query " << i << ", key " << j;
  }
}

TEST(CacheLatent, ComputesWideLayersAndRefusesOversizedLatents) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->setup = openingScene().setup;
  snapshot->config = configOf(snapshot->setup);
  snapshot->config.modelDim = 4096;
  snapshot->config.heads = snapshot->config.kvHeads = 32;
  snapshot->config.headDim = 128;
  Resources resources(kRoomy);
  const auto refused = attendLatent(snapshot, 0, 2000, 16, resources, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error().message,
      "Fitting a latent of 2000 dimensions takes too long for a model dim of 4096 with keys and values of "
      "8192: expected up to 1365.");
  Resources tight(Limits{1 << 20});
  EXPECT_THAT(attendLatent(snapshot, 0, 64, 16, tight, {}).error().message,
              testing::HasSubstr("of the budget of 1 MiB is in use"));
  app::Setup wide = openingScene().setup;
  wide.input.text = "the cat saw the dog";
  wide.weights.source = WeightSource::random;
  wide.model.position = PositionKind::rope;
  wide.model.linked = false;
  wide.model.modelDim = 2048;
  wide.model.heads = wide.model.kvHeads = 16;
  wide.model.headDim = 64;
  const auto layer = computedLayer(wide);
  EXPECT_LT(latentError(layer, 512, 64), latentError(layer, 128, 64)) << "as anywhere, more of it is nearer";
}

}  // namespace
}  // namespace headscope::test
