// Measures of single heads of a model, compared with other ways to compute the same.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/compute/heads/map_scores.h"
#include "app/compute/jobs/memory_budget.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/model/model_study.h"
#include "attention/core/decompositions.h"
#include "attention/models/copying.h"
#include "tests/app/compute/layer/golden_scene.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/safetensors_file.h"

namespace headscope::test {
namespace {

using namespace app;
using attention::Matrix;
using attention::test::Golden;
using attention::test::goldenModel;

class HeadsOfModels : public testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<const ModelStudy> study(const app::Setup& setup) {
    ModelRunner runner;
    auto result = runner.run(modelQuestion(setup), resources, {}, {});
    EXPECT_TRUE(result.ok()) << result.error().message;
    return std::make_shared<const ModelStudy>(*std::move(result));
  }
  float probability(const std::shared_ptr<const ModelStudy>& of, Index query, Index id,
                    std::vector<SwitchedHead> without) {
    const auto left = forecast({of, query, id, std::move(without)}, resources, {});
    EXPECT_TRUE(left.ok());
    return left.ok() ? *left : -1;
  }

  Resources resources{kRoomy};
};

TEST_P(HeadsOfModels, HeadLossMatchesSwitchingHeadOff) {
  const auto now = study(goldenScene(GetParam(), "the cat sat on").setup);
  const auto losses = headLosses({now}, resources, {});
  ASSERT_TRUE(losses.ok()) << losses.error().message;
  ASSERT_EQ(losses->of, LossOf::next);
  const Index last = now->tokens() - 1;
  const float with = probability(now, last, losses->next, {});
  for (Index layer = 0; layer < losses->change.rows(); ++layer)
    for (Index head = 0; head < losses->change.cols(); ++head)
      EXPECT_NEAR(losses->change(layer, head),
                  probability(now, last, losses->next, {{layer, head, HeadOff::zero}}) - with, 2e-5)
          << layer << "." << head;
}

/// A head replaced by its mean over the text reads later tokens too.
TEST_P(HeadsOfModels, MidTextForecastAveragesOverWholeText) {
  Scene scene = goldenScene(GetParam(), "the cat sat on");
  scene.setup.subject.switchedOff = {{0, 1, HeadOff::mean}};
  const auto now = study(scene.setup);
  const Index query = 1, last = std::ssize(now->layers);
  const auto best = predictTokens({now, nullptr, query, last}, {});
  ASSERT_TRUE(best.ok()) << best.error().message;
  for (const auto& [id, expected, rest] : best->best)
    EXPECT_NEAR(probability(now, query, id, {}), expected, 2e-5) << id;
}

/// On Heads as on Model, "The" and "the" are different tokens.
TEST_P(HeadsOfModels, ScoresAreTheSameOnHeadsAndModel) {
  Scene scene = goldenScene(GetParam(), "The cat saw the cat . The");
  const auto whole = study(scene.setup);
  for (scene.setup.subject.layer = 0; scene.setup.subject.layer < 2; ++scene.setup.subject.layer) {
    const Snapshot snapshot = computed(scene.setup);
    const auto& heads = whole->layers[static_cast<std::size_t>(scene.setup.subject.layer)]->heads;
    for (std::size_t head = 0; head < heads.size(); ++head)
      for (const char* detector : {"same_token", "induction"}) {
        const auto &here = snapshot.sequences[0].profiles[head][detector],
                   &there = heads[head].profile[detector];
        EXPECT_EQ(here.rows, there.rows) << detector;
        EXPECT_NEAR(here.raw, there.raw, 1e-4) << detector << " " << head;
      }
  }
}

/// The previous synthetic layer is still in the setup, with another number of heads.
TEST_P(HeadsOfModels, ModelScenesNeverPlantHeads) {
  Scene scene = goldenScene(GetParam(), "the cat sat on");
  scene.setup.weights.source = WeightSource::planted;
  for (const Index heads : {1, 2, 16}) {
    scene.setup.model.heads = heads;
    scene.setup.model.kvHeads = 1;
    EXPECT_EQ(plantedMisfit(scene.setup), "");
    EXPECT_EQ(narrowInduction(scene.setup), 0);
    EXPECT_FALSE(plantingSuits(scene.setup)) << "nothing to suit";
  }
}

TEST_P(HeadsOfModels, HeadLossAveragesOverGeneratedTokens) {
  Scene scene = goldenScene(GetParam(), "the cat sat on");
  scene.setup.subject.written = {5, 7};
  const auto now = study(scene.setup);
  const auto losses = headLosses({now}, resources, {});
  ASSERT_TRUE(losses.ok());
  ASSERT_EQ(losses->of, LossOf::written);
  const Index typed = now->text.typed;
  const auto mean = [&](const std::vector<SwitchedHead>& without) {
    return (probability(now, typed - 1, 5, without) + probability(now, typed, 7, without)) / 2;
  };
  EXPECT_NEAR(losses->change(1, 2), mean({{1, 2, HeadOff::zero}}) - mean({}), 2e-5);
  scene.setup.subject.switchedOff = {{1, 2, HeadOff::zero}};
  const auto off = headLosses({study(scene.setup)}, resources, {});
  ASSERT_TRUE(off.ok());
  EXPECT_NEAR(off->change(1, 2), losses->change(1, 2), 2e-5) << "whether it is off now or not";
}

TEST_P(HeadsOfModels, BytesReadNeverExceedTheFile) {
  const Scene scene = goldenScene(GetParam(), "the cat");
  const attention::Model& model = *scene.setup.subject.opened->model;
  const Index layers = model.config().layerCount();
  std::uint64_t before = 0;
  for (Index l = 0; l <= layers; ++l) {
    const std::uint64_t now = bytesRead(model, l, false, 2);
    EXPECT_GT(now, before);
    before = now;
  }
  EXPECT_GT(bytesRead(model, layers, true, 2), before);
  EXPECT_LE(bytesRead(model, layers, true, 2), model.checkpoint().bytes());
}

INSTANTIATE_TEST_SUITE_P(Families, HeadsOfModels, testing::Values("gpt2", "llama", "gemma2", "gpt_neox"),
                         [](const auto& info) { return info.param; });

/// The tensors of a golden model as matrices.
class GoldenTensors {
 public:
  explicit GoldenTensors(const std::string& model)
      : file_(*readSafetensors(goldenModel(model) / "model.safetensors")) {}
  Matrix operator()(const std::string& name) const {
    const auto& tensor = file_.tensors.at(name);
    const auto values = *toFloats(tensor, name);
    const auto rows = static_cast<Index>(tensor.shape.size() > 1 ? tensor.shape[0] : 1);
    return Eigen::Map<const Matrix>(values.data(), rows, std::ssize(values) / rows);
  }

 private:
  attention::SafetensorsFile file_;
};

double signOf(const Eigen::MatrixXd& whole) {
  const auto eigenvalues = attention::eigenvalues(whole);
  return eigenvalues.real().sum() / eigenvalues.cwiseAbs().sum();
}

/// By the definition: the product of all four maps, [vocabulary, vocabulary].
TEST(HeadCopying, MatchesEigenvaluesThroughTheVocabulary) {
  const auto opened = goldenScene("llama", "a").setup.subject.opened;
  const attention::ModelConfig& config = opened->config();
  const GoldenTensors matrix("llama");
  const Matrix v = matrix("model.layers.1.self_attn.v_proj.weight"),
               o = matrix("model.layers.1.self_attn.o_proj.weight"),
               in = matrix("model.embed_tokens.weight") *
                    matrix("model.layers.1.input_layernorm.weight").row(0).asDiagonal();
  Matrix out = matrix("lm_head.weight") * matrix("model.norm.weight").row(0).asDiagonal();
  out.rowwise() -= out.colwise().mean().eval();
  const Index size = config.headDim;
  std::vector<attention::HeadPlace> places;
  for (Index head = 0; head < config.heads; ++head) places.push_back({config.group, 1, head});
  const auto all = attention::copyingScores(*opened->model, places);
  ASSERT_TRUE(all.ok()) << all.error().message;
  for (Index head = 0; head < config.heads; ++head) {
    const Matrix reads = in * v.middleRows(head * config.kvHeads / config.heads * size, size).transpose(),
                 writes = o.middleCols(head * size, size).transpose() * out.transpose();
    const double expected = signOf((reads * writes).cast<double>());
    const auto found = headCopying({opened, 1, head});
    ASSERT_TRUE(found.ok());
    EXPECT_NEAR(*found, expected, 1e-3) << head;
    EXPECT_NEAR(all->at(static_cast<std::size_t>(head)), expected, 1e-3) << head;
  }
}

TEST(HeadCopying, IsRefusedWithoutAVocabularyThatAProductPasses) {
  const auto opened = goldenScene("bert", "a").setup.subject.opened;
  EXPECT_THAT(headCopying({opened, 0, 0}).error().message, HasSubstr("an extra layer before its vocabulary"));
  EXPECT_TRUE(headVoEigenvalues({opened, 0, 0}).ok());
}

TEST(HeadVoEigenvalues, MatchEigenvaluesOfFullProduct) {
  const auto opened = goldenScene("llama", "a").setup.subject.opened;
  const attention::ModelConfig& config = opened->config();
  const GoldenTensors matrix("llama");
  const Matrix v = matrix("model.layers.1.self_attn.v_proj.weight"),
               o = matrix("model.layers.1.self_attn.o_proj.weight");
  const Index size = config.headDim;
  for (Index head = 0; head < config.heads; ++head) {
    const Index kv = head * config.kvHeads / config.heads;
    const Eigen::MatrixXd whole =
        (o.middleCols(head * size, size) * v.middleRows(kv * size, size)).cast<double>();
    const auto found = headVoEigenvalues({opened, 1, head});
    ASSERT_TRUE(found.ok());
    EXPECT_NEAR(*found, signOf(whole), 1e-4) << head;
  }
}

}  // namespace
}  // namespace headscope::test
