#include <gtest/gtest.h>

#include "app/compute/layer/snapshot.h"
#include "app/scene/scene_json.h"
#include "attention/core/score_terms.h"
#include "attention/models/layers/attention_file.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/tensor_source.h"

namespace headscope::app {
namespace {

using attention::Matrix;
using attention::SafetensorsFile;

SafetensorsFile fileOf(const Scene& scene) {
  Resources resources(test::kRoomy);
  const Snapshot snapshot = computeSnapshot(scene.setup, resources);
  EXPECT_FALSE(snapshot.error) << snapshot.error->message;
  auto file = snapshotFile(scene, snapshot, resources);
  EXPECT_TRUE(file.ok()) << file.error().message;
  return file ? *file : SafetensorsFile{};
}

Scene sceneOf(app::Setup setup) {
  Scene scene;
  scene.setup = std::move(setup);
  return scene;
}

std::vector<float> floatsOf(const SafetensorsFile& file, const std::string& name) {
  EXPECT_TRUE(file.tensors.contains(name)) << name;
  if (!file.tensors.contains(name)) return {};
  const auto values = test::toFloats(file.tensors.at(name), name);
  EXPECT_TRUE(values.ok());
  return *values;
}

std::string shapeOf(const SafetensorsFile& file, const std::string& name) {
  return file.tensors.contains(name) ? attention::shapeText(file.tensors.at(name).shape) : "none";
}

/// Expects attend to compute from the file what the snapshot computed from the scene.
void expectAttendAgrees(const SafetensorsFile& file) {
  const auto problem = attention::readProblem(test::sourceOf(file), {}, "snapshot");
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  const SafetensorsFile again = attention::resultFile(attention::solve(*problem), problem->batched);
  for (const auto& [name, tensor] : again.tensors) {
    ASSERT_EQ(shapeOf(file, name), attention::shapeText(tensor.shape));
    const auto expected = floatsOf(file, name), found = floatsOf(again, name);
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_TRUE(expected[i] == found[i] || std::abs(expected[i] - found[i]) < 2e-5F)
          << name << " at " << i << ": " << found[i] << ", expected " << expected[i];
  }
}

TEST(SnapshotFile, AttendReproducesTheResult) {
  for (const PositionKind position :
       {PositionKind::none, PositionKind::sinusoidal, PositionKind::rope, PositionKind::alibi}) {
    app::Setup setup = test::plainSetup("a b c d e\nf g");
    setup.model.position = position;
    setup.model.kvHeads = 2;
    setup.model.bias = true;
    for (const attention::ScoreTerm& term : attention::scoreTerms())
      if (term.number.member) setup.model.*term.number.member = 1.5F;
    setup.model.dropout = 0.25F;
    setup.mask.layers = test::layersFrom("causal & heads(odd): window(2) & padding & sequences(1): sinks(1)");
    setup.mask.additive = attention::Table{{}, Matrix::Random(5, 5)};
    expectAttendAgrees(fileOf(sceneOf(setup)));
    setup.mask.additive = {};
    setup.input.cross = true;
    setup.input.contextText = "u v w x y z\nu v";
    expectAttendAgrees(fileOf(sceneOf(setup)));
    setup.input.text = "a b";
    setup.input.contextText = "c";
    expectAttendAgrees(fileOf(sceneOf(setup)));
  }
}

TEST(SnapshotFile, ContainsTheInputsOfTheScene) {
  app::Setup setup = test::plainSetup("The cat sat\nIt");
  setup.mask.layers = test::layersFrom("causal & off: sinks(2)");
  setup.mask.additive = attention::Table{{}, Matrix::Constant(3, 3, 0.5F)};
  setup.model.position = PositionKind::alibi;
  const Scene scene = sceneOf(setup);
  const SafetensorsFile file = fileOf(scene);
  EXPECT_EQ(shapeOf(file, "x"), "[2, 3, 32]");
  EXPECT_EQ(shapeOf(file, "mask"), "[2, 4, 3, 3]");
  EXPECT_EQ(shapeOf(file, "attn_mask"), "[3, 3]");
  EXPECT_EQ(shapeOf(file, "snapshot.bias"), "[2, 4, 3, 3]");
  EXPECT_EQ(shapeOf(file, "context"), "none");
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"})
    EXPECT_NE(shapeOf(file, std::string(name) + ".weight"), "none") << name;
  const auto& cells = file.tensors.at("mask").bytes;
  EXPECT_THAT(std::vector<int>(cells.begin(), cells.begin() + 9), ElementsAre(0, 1, 1, 0, 0, 1, 0, 0, 0))
      << "true = masked";
  // For a query's own position there is only the matrix; earlier keys have ALiBi's slope as well.
  const auto bias = floatsOf(file, "snapshot.bias");
  EXPECT_EQ(bias[0], 0.5F);
  EXPECT_LT(bias[3], 0.5F);
  const auto& said = file.metadata;
  EXPECT_EQ(said.at("heads"), "4");
  EXPECT_EQ(said.at("alibi"), "True");
  EXPECT_EQ(said.at("snapshot.tokens"), R"([["The","cat","sat"],["It"]])");
  EXPECT_EQ(said.at("snapshot.mask"), "causal & off: sinks(2)");
  EXPECT_EQ(said.at("snapshot.left_out"), R"json(["off: sinks(2) (switched off)"])json");
  const auto back = parseScene(said.at("snapshot.scene"), "scene");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(*back, scene);
  EXPECT_FALSE(file.tensors.contains("snapshot.other.weights"));
  EXPECT_FALSE(file.tensors.contains("snapshot.cache.k"));
}

TEST(SnapshotFile, AttendRefusesT5Biases) {
  app::Setup setup = test::plainSetup("a b c");
  setup.model.position = PositionKind::t5;
  const SafetensorsFile file = fileOf(sceneOf(setup));
  EXPECT_EQ(shapeOf(file, "snapshot.bias"), "[4, 3, 3]");
  const auto problem = attention::readProblem(test::sourceOf(file), {}, "snapshot");
  ASSERT_FALSE(problem.ok()) << "it would compute something else";
  EXPECT_THAT(problem.error().message, HasSubstr("\"t5_"));
}

TEST(SnapshotFile, ContainsSecondMaskAndItsArrays) {
  app::Setup setup = test::plainSetup("a b c d");
  setup.mask.layers = test::layersFrom("causal");
  setup.mask.other = test::layersFrom("window_both(2)");
  setup.mask.compare = true;
  const SafetensorsFile file = fileOf(sceneOf(setup));
  setup.mask.layers = setup.mask.other;
  setup.mask.compare = false;
  const SafetensorsFile alone = fileOf(sceneOf(setup));
  for (const char* name : {"mask", "scores", "weights", "lse", "head_output"})
    EXPECT_EQ(file.tensors.at("snapshot.other." + std::string(name)).bytes, alone.tensors.at(name).bytes)
        << name;
  const auto found = floatsOf(file, "snapshot.other.output"), expected = floatsOf(alone, "output");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5F);
  EXPECT_EQ(file.metadata.at("snapshot.other.mask"), "window_both(2)");
}

/// The outputs of the second mask and of the decode leave out the same heads as the layer's output.
TEST(SnapshotFile, SwitchedOffHeadsAffectEveryOutput) {
  for (const HeadOff by : {HeadOff::zero, HeadOff::mean}) {
    app::Setup setup = test::plainSetup("a b c d e");
    setup.mask.layers = setup.mask.other = test::layersFrom("causal");
    setup.mask.compare = true;
    setup.prefill = 2;
    Scene scene = sceneOf(setup);
    scene.cursor.decoding = true;
    scene.cursor.step = 4;
    const auto whole = floatsOf(fileOf(scene), "output");
    scene.setup.subject.switchedOff = {{0, 1, by}, {0, 3, by}};
    const SafetensorsFile file = fileOf(scene);
    const auto output = floatsOf(file, "output"), other = floatsOf(file, "snapshot.other.output"),
               decode = floatsOf(file, "snapshot.decode.output");
    EXPECT_NE(output, whole);
    ASSERT_EQ(other.size(), output.size());
    for (std::size_t i = 0; i < output.size(); ++i) EXPECT_NEAR(other[i], output[i], 1e-5F);
    const std::size_t dim = output.size() / 5;
    ASSERT_EQ(decode.size(), dim);
    for (std::size_t i = 0; i < dim; ++i) EXPECT_NEAR(decode[i], output[3 * dim + i], 1e-5F);
  }
}

TEST(SnapshotFile, ContainsDecodeStepAtTheCursor) {
  for (const Index prefill : {Index{1}, Index{2}, Index{9}}) {
    app::Setup setup = test::plainSetup("a b\nc d e f g");
    setup.model.kvHeads = 2;
    setup.mask.layers = test::layersFrom("causal & padding");
    setup.prefill = prefill;
    Scene scene = sceneOf(setup);
    scene.cursor.decoding = true;
    scene.cursor.sequence = 1;
    scene.cursor.step = 4;
    const SafetensorsFile file = fileOf(scene);
    const std::string dim = std::to_string(setup.model.headDim);
    const Index rows = prefill == 9 ? 4 : 1;
    EXPECT_EQ(shapeOf(file, "snapshot.cache.k"), "[2, 4, " + dim + "]");
    EXPECT_EQ(shapeOf(file, "snapshot.decode.weights"), "[4, " + std::to_string(rows) + ", 4]");
    EXPECT_EQ(file.metadata.at("snapshot.decode.step"), "4");
    EXPECT_EQ(file.metadata.at("snapshot.decode.sequence"), "1");
    // The same row of the full pass: [2, 4, 5, 5] of the second line.
    const auto step = floatsOf(file, "snapshot.decode.weights"), all = floatsOf(file, "weights");
    for (std::size_t head = 0; head < 4; ++head)
      for (std::size_t key = 0; key < 4; ++key)
        EXPECT_NEAR(
            step[(head * static_cast<std::size_t>(rows) + static_cast<std::size_t>(rows) - 1) * 4 + key],
            all[((4 + head) * 5 + 3) * 5 + key], 1e-5F);
    scene.cursor.decoding = false;
    EXPECT_FALSE(fileOf(scene).tensors.contains("snapshot.cache.k"));
  }
}

}  // namespace
}  // namespace headscope::app
