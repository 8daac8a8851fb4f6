// The lab's attention rollout of opened models: the product of (A + I)/2 over the layers, in double
// precision, from the weights that float64 computed (tests/golden_models) or that the overview shows.

#include <gtest/gtest.h>

#include "app/compute/heads/head_studies.h"
#include "app/compute/model/model_study.h"
#include "tests/app/compute/layer/golden_scene.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/safetensors_file.h"

namespace headscope::test {
namespace {

using namespace app;
using Eigen::MatrixXd;

/// The lab's rollout up to the scene's layer; −inf where nothing arrives.
attention::Matrix shownRollout(const app::Setup& setup) {
  Resources resources(kRoomy);
  const auto snapshot = std::make_shared<const Snapshot>(computeSnapshot(setup, resources));
  if (snapshot->error) throw std::runtime_error(snapshot->error->message);
  const auto layer = layerParts({snapshot, 0}, resources);
  if (!layer) throw std::runtime_error(layer.error().message);
  const auto views = studyViews({*layer, 0, 1}, resources);
  if (!views) throw std::runtime_error(views.error().message);
  EXPECT_EQ((*views)->noRollout, "");
  return (**views)[HeadPicture::rollout].values;
}

/// (mean over heads + I)/2 of `heads` matrices, starting at `first`.
MatrixXd rolledLayer(const attention::Stack& weights, Index first, Index heads) {
  MatrixXd step = MatrixXd::Zero(weights.rows(), weights.rows());
  for (Index h = 0; h < heads; ++h) step += weights[first + h].cast<double>() / static_cast<double>(heads);
  return 0.5 * (step + MatrixXd::Identity(step.rows(), step.rows()));
}

void expectRollout(const attention::Matrix& shown, const MatrixXd& expected, bool causal,
                   const std::string& what) {
  ASSERT_EQ(shown.rows(), expected.rows()) << what;
  for (Index i = 0; i < expected.rows(); ++i)
    for (Index j = 0; j < expected.cols(); ++j)
      if (causal && j > i)
        ASSERT_EQ(shown(i, j), -INFINITY) << what << ": from the future of " << i << ", " << j;
      else if (expected(i, j) == 0)  // outside all windows
        ASSERT_EQ(shown(i, j), -INFINITY) << what << ": " << i << ", " << j;
      else
        ASSERT_NEAR(shown(i, j), expected(i, j), 2e-5) << what << ": " << i << ", " << j;
}

class RolloutOfModels : public testing::TestWithParam<std::string> {};

TEST_P(RolloutOfModels, IsProductOfGoldenWeightsUpToEachLayer) {
  const auto file = readSafetensors(attention::test::goldenModel(GetParam()) / "expected.safetensors");
  ASSERT_TRUE(file.ok());
  for (const std::string prompt : {"short", "long"}) {
    Scene scene = goldenScene(GetParam(), file->metadata.at(prompt + ".text"));
    const attention::ModelConfig& config = scene.setup.subject.opened->config();
    const attention::Stack weights = attention::test::Golden(GetParam(), prompt).stack("attention");
    MatrixXd expected = MatrixXd::Identity(weights.rows(), weights.rows());
    for (Index layer = 0; layer < config.layerCount(); ++layer) {
      expected = rolledLayer(weights, layer * config.heads, config.heads) * expected;
      scene.setup.subject.layer = layer;
      expectRollout(shownRollout(scene.setup), expected, config.causal,
                    prompt + " layer " + std::to_string(layer));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, RolloutOfModels, testing::ValuesIn(attention::test::kGoldenFamilies),
                         [](const auto& family) { return family.param; });

TEST(RolloutOfTheMiniature, ReflectsSwitchedHeadsAndSharpness) {
  Scene scene = openingScene();
  adoptModel(scene, kLearned, *openModel(kLearned));
  scene.setup.input.text = "The dog didn't cross the bridge because it was too tired .";
  app::Setup& setup = scene.setup;
  setup.subject.layer = 3;
  const attention::Matrix before = shownRollout(setup);
  setup.subject.switchedOff = {{0, 0, HeadOff::zero}, {1, 2, HeadOff::mean}};
  setup.model.sharpness = 2;
  Resources resources(kRoomy);
  ModelRunner runner;
  const auto study = runner.run(modelQuestion(setup), resources, {}, {});
  ASSERT_TRUE(study.ok()) << study.error().message;
  const Index n = study->layers[0]->weights.rows();
  MatrixXd expected = MatrixXd::Identity(n, n);
  for (const auto& layer : study->layers)
    expected = rolledLayer(layer->weights, 0, layer->weights.count()) * expected;
  const attention::Matrix after = shownRollout(setup);
  expectRollout(after, expected, true, "with heads switched off");
  EXPECT_GT(attention::test::distance(before.leftCols(1), after.leftCols(1)), 1e-3)
      << "and it is another one";
}

}  // namespace
}  // namespace headscope::test
