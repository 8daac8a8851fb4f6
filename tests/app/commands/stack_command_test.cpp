// Synthetic layers on the command line: `snapshot` writes each layer such that `attend` computes the same
// from it, over everything a scene can choose; each can be drawn; what can't be computed gives one sentence.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

#include "app/scene/mask_rules.h"
#include "app/scene/scene_json.h"
#include "attention/models/layers/attention_file.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using namespace app;

class StackCommands : public testing::Test {
 protected:
  std::string put(const Scene& scene) {
    EXPECT_TRUE(writeScene(folder_ / "a.json", scene).ok());
    return (folder_ / "a.json").string();
  }
  static Scene stackScene(Index layers, Index shown) {
    Scene scene = openingScene();
    scene.setup.input.text = "red fox owl red fox owl\ncat owl cat";
    scene.setup.model.layers = layers;
    scene.setup.subject.layer = shown;
    return scene;
  }
  attention::SafetensorsFile written(const std::vector<std::string>& arguments) {
    const std::string out = (folder_ / "out.safetensors").string();
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"-o", out});
    const Outcome outcome = runHeadscope(all);
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    const auto file = readSafetensors(out);
    EXPECT_TRUE(file.ok());
    return file.ok() ? *file : attention::SafetensorsFile{};
  }
  static double apart(const attention::SafetensorsFile& a, const attention::SafetensorsFile& b,
                      const std::string& name) {
    const auto x = *toFloats(a.tensors.at(name), name), y = *toFloats(b.tensors.at(name), name);
    double most = x.size() == y.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
      most = std::max(most, std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
    return most;
  }

  TemporaryFolder folder_;
};

TEST_F(StackCommands, SnapshotOfEachLayerMatchesAttend) {
  struct Choice {
    const char* name;
    std::function<void(Scene&)> make;
  };
  const std::vector<Choice> choices{
      {"GQA, planted", [](Scene&) {}},
      {"MQA, random, RoPE",
       [](Scene& s) {
         s.setup.model.kvHeads = 1;
         s.setup.model.position = PositionKind::rope;
         s.setup.weights.source = WeightSource::random;
       }},
      {"window and norm",
       [](Scene& s) {
         s.setup.model.norm = true;
         s.setup.weights.source = WeightSource::random;
         s.setup.mask.layers = layersFrom("causal & window(3)");
       }},
      {"heads switched off", [](Scene& s) {
         s.setup.model.kvHeads = 8;
         s.setup.subject.switchedOff = {{0, 0, HeadOff::zero}, {1, 3, HeadOff::mean}};
       }}};
  for (const Choice& choice : choices)
    for (const auto& [layers, shown] : {std::pair<Index, Index>{2, 1}, {4, 3}}) {
      Scene scene = stackScene(layers, shown);
      choice.make(scene);
      const std::string what = fmt::format("{}, layer {} of {}", choice.name, shown, layers);
      const auto snapshot = written({"snapshot", put(scene)});
      std::filesystem::copy_file(folder_ / "out.safetensors", folder_ / "in.safetensors",
                                 std::filesystem::copy_options::overwrite_existing);
      const auto attended = written({"attend", (folder_ / "in.safetensors").string()});
      for (const char* name : {"q", "k", "v", "weights"})
        EXPECT_LT(apart(snapshot, attended, name), 2e-5) << what << ": " << name;
      scene.setup.subject.layer = 0;
      EXPECT_GT(apart(snapshot, written({"snapshot", put(scene)}), "x"), 1e-3)
          << what << ": the stream moved on";
    }
}

TEST_F(StackCommands, RenderDrawsEveryLayerOnEveryPage) {
  for (const char* page : {"heads", "model", "lab", "cache"}) {
    std::vector<std::vector<std::uint8_t>> pictures;
    for (const Index shown : {0, 2}) {
      const std::string out = (folder_ / "out.png").string();
      Scene scene = stackScene(3, shown);
      scene.cursor.model.layer = shown;
      const Outcome outcome =
          runHeadscope({"render", put(scene), "--page", page, "--size", "900x640", "-o", out});
      EXPECT_EQ(outcome.exitCode, 0) << page << ": " << outcome.errors;
      pictures.push_back(decodePng(fileBytes(out)).rgba);
    }
    EXPECT_NE(pictures[0], pictures[1]) << page;
  }
}

TEST_F(StackCommands, RefusesFourLayersAtSizeLimit) {
  Scene scene = stackScene(4, 3);
  scene.setup.model.linked = false;
  scene.setup.model.heads = scene.setup.model.kvHeads = kMaxHeads;
  scene.setup.model.headDim = kMaxHeadDim;
  scene.setup.model.modelDim = kMaxModelDim;
  const std::string out = (folder_ / "out.safetensors").string();
  const Outcome outcome = runHeadscope({"snapshot", put(scene), "-o", out});
  EXPECT_EQ(outcome.exitCode, 1);
  EXPECT_THAT(outcome.errors,
              HasSubstr("The weights of 4 layers, each of 64 heads over 64 of size 512 on model "
                        "dim 4096, would need 8 GiB"));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace headscope::test
