#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "app/compute/layer/layer_inputs.h"
#include "app/scene/scene_json.h"
#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"
#include "tests/support/small_problem.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using attention::Error;
using test::Dice;
using test::TemporaryFolder;

/// Changes the working folder during its lifetime.
class WorkingFolder {
 public:
  explicit WorkingFolder(const fs::path& folder) : before_(fs::current_path()) { fs::current_path(folder); }
  ~WorkingFolder() { fs::current_path(before_); }

 private:
  fs::path before_;
};

class SceneFiles : public testing::Test {
 protected:
  Scene withWeights(const fs::path& file) {
    Scene scene = openingScene();
    scene.setup.weights.source = WeightSource::file;
    scene.setup.weights.file = file.string();
    return scene;
  }
  void write(const fs::path& path, const Scene& scene) {
    const auto status = writeScene(path, scene);
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
  /// The weights file named by the scene at `path`, as an absolute path.
  fs::path weightsOf(const fs::path& path) {
    const auto scene = readScene(path);
    EXPECT_TRUE(scene.ok()) << scene.error().message;
    return scene.ok() ? fs::absolute(scene->setup.weights.file).lexically_normal() : fs::path();
  }
  std::string errorOf(const fs::path& path) {
    const auto scene = readScene(path);
    EXPECT_FALSE(scene.ok());
    return scene.ok() ? "" : scene.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(SceneFiles, RoundTripsRandomScenes) {
  Dice dice(7);
  for (int i = 0; i < 20; ++i) {
    const Scene scene = test::randomScene(dice, test::kAnyScene);
    write(folder_ / "a scene – ⚗.json", scene);
    const auto again = readScene(folder_ / "a scene – ⚗.json");
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, scene);
  }
  EXPECT_EQ(folder_.count(), 1u) << "something else was left behind";
}

TEST_F(SceneFiles, ReportsUnreadableFiles) {
  EXPECT_THAT(errorOf(folder_ / "none.json"), HasSubstr("none.json: cannot be opened: No such file"));
  EXPECT_THAT(errorOf(folder_.path()), HasSubstr("is a directory, expected a regular file"));
  ASSERT_EQ(::mkfifo((folder_ / "pipe.json").c_str(), 0600), 0);
  EXPECT_THAT(errorOf(folder_ / "pipe.json"), HasSubstr("is a pipe, expected a regular file"));
  test::putFile(folder_ / "empty.json", "");
  EXPECT_THAT(errorOf(folder_ / "empty.json"), HasSubstr("empty.json: this is not JSON"));
  test::putFile(folder_ / "huge.json", "{");
  fs::resize_file(folder_ / "huge.json", std::uintmax_t{1} << 40);
  EXPECT_THAT(errorOf(folder_ / "huge.json"), HasSubstr("bytes, expected at most"));
  EXPECT_THAT(errorOf("/dev/null"), HasSubstr("is a device"));
  EXPECT_THAT(errorOf(""), HasSubstr("cannot be opened"));
}

TEST_F(SceneFiles, ReportsUnwritableFiles) {
  const auto status = writeScene(folder_ / "none" / "a.json", openingScene());
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("a.json: cannot be written: No such file or directory"));
  EXPECT_FALSE(writeScene("/dev/full", openingScene()).ok());
  EXPECT_FALSE(writeScene(folder_.path(), openingScene()).ok());
  EXPECT_EQ(folder_.count(), 0u);
}

TEST_F(SceneFiles, StoresRelativeWeightPaths) {
  fs::create_directories(folder_ / "sub");
  const fs::path beside = folder_ / "w.safetensors", below = folder_ / "sub/w.safetensors";
  for (const fs::path& weights : {beside, below, fs::path("/elsewhere/w.safetensors")}) {
    write(folder_ / "a.json", withWeights(weights));
    EXPECT_EQ(weightsOf(folder_ / "a.json"), weights);
  }
  test::putFile(folder_ / "b.json", R"({"format": "headscope scene", "version": 1,
                                        "weights": {"source": "file", "file": "../other/w.safetensors"}})");
  EXPECT_EQ(weightsOf(folder_ / "b.json"), folder_.path().parent_path() / "other/w.safetensors");
}

TEST_F(SceneFiles, CanMoveTogetherWithWeights) {
  fs::create_directories(folder_ / "old/sub");
  write(folder_ / "old/a.json", withWeights(folder_ / "old/w.safetensors"));
  write(folder_ / "old/b.json", withWeights(folder_ / "old/sub/w.safetensors"));
  fs::rename(folder_ / "old", folder_ / "new");
  EXPECT_EQ(weightsOf(folder_ / "new/a.json"), folder_ / "new/w.safetensors");
  EXPECT_EQ(weightsOf(folder_ / "new/b.json"), folder_ / "new/sub/w.safetensors");
}

TEST_F(SceneFiles, StoresRelativeRecordingAndTextPaths) {
  Scene scene = openingScene();
  scene.compare.recorded = (folder_ / "b.npz#cross").string();
  scene.compare.texts = (folder_ / "stories.jsonl").string();
  scene.compare.alignment = {{2, 3}, {-1, 4}};
  write(folder_ / "a.json", scene);
  fs::create_directories(folder_ / "moved");
  fs::rename(folder_ / "a.json", folder_ / "moved/a.json");
  const auto read = readScene(folder_ / "moved/a.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->compare.recorded, (folder_ / "moved/b.npz#cross").string());
  EXPECT_EQ(read->compare.texts, (folder_ / "moved/stories.jsonl").string());
  EXPECT_EQ(read->compare.alignment, scene.compare.alignment);
}

/// Opened and saved by a relative path, as from a command line, the scene still names the same file.
TEST_F(SceneFiles, KeepsWeightsWhenOpenedByRelativePath) {
  fs::create_directories(folder_ / "scenes");
  const fs::path weights = folder_ / "scenes/w.safetensors";
  write(folder_ / "scenes/a.json", withWeights(weights));
  const WorkingFolder here(folder_.path());
  for (int round = 0; round < 3; ++round) {
    const auto scene = readScene("scenes/a.json");
    ASSERT_TRUE(scene.ok()) << scene.error().message;
    EXPECT_EQ(fs::absolute(scene->setup.weights.file).lexically_normal(), weights) << "round " << round;
    write("scenes/a.json", *scene);
  }
  const WorkingFolder there(folder_ / "scenes");
  const auto scene = readScene("a.json");
  ASSERT_TRUE(scene.ok());
  write("a.json", *scene);
  EXPECT_EQ(weightsOf("a.json"), weights);
  // If it is saved to another folder, the name has to change.
  write(folder_ / "copy.json", *scene);
  EXPECT_EQ(weightsOf(folder_ / "copy.json"), weights);
}

TEST_F(SceneFiles, ReadsScenesForTheWindow) {
  Dice dice(9);
  const Scene scene = test::randomScene(dice, {});
  write(folder_ / "a.json", scene);
  const auto read = readScene(folder_ / "a.json");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, scene);
}

TEST_F(SceneFiles, ReadsSizesOfWeights) {
  const fs::path path = folder_ / "w.safetensors";
  auto file = test::smallProblem();
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  const LoadedWeights loaded = readLoadedWeights(path, 1).value();
  EXPECT_EQ(loaded.config.heads, 4);
  EXPECT_EQ(loaded.config.kvHeads, 2);
  EXPECT_EQ(loaded.config.headDim, 4);
  EXPECT_EQ(loaded.config.modelDim, 8);
  EXPECT_FALSE(loaded.bias);
  file.tensors["q_proj.bias"] = test::gaussianTensor({16}, 1);
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  EXPECT_TRUE(readLoadedWeights(path, 2).value().bias);
}

/// A loaded file shows something at once; the scene decides which layer.
TEST_F(SceneFiles, UsesFirstLayerOfAWholeModel) {
  const fs::path path = folder_ / "w.safetensors";
  attention::SafetensorsFile file;
  for (const std::string prefix : {"h.10.attn.", "h.2.attn."}) {
    file.tensors[prefix + "c_attn.weight"] = test::gaussianTensor({8, 24}, prefix.size());
    file.tensors[prefix + "c_proj.weight"] = test::gaussianTensor({8, 8}, 2);
  }
  ASSERT_TRUE(attention::writeSafetensors(path, file).ok());
  const LoadedWeights loaded = readLoadedWeights(path, 4).value();
  EXPECT_EQ(loaded.layer, 2);
  EXPECT_EQ(loaded.layers, 2);
  EXPECT_EQ(loaded.config.headDim, 2);
  auto setup = openingScene().setup;
  setup.weights.file = path.string();
  setup.model.heads = 4;
  setup.weights.layer = 2;
  const auto first = readLayerWeights(setup, 1 << 20);
  setup.weights.layer = 10;
  const auto other = readLayerWeights(setup, 1 << 20);
  ASSERT_TRUE(first.ok() && other.ok());
  EXPECT_NE(first->projections.k.weight, other->projections.k.weight);
  setup.weights.layer = 3;
  EXPECT_THAT(readLayerWeights(setup, 1 << 20).error().message,
              HasSubstr("w.safetensors: layer is 3, the file holds layers 2, 10"));
  setup.weights.layer = -1;
  EXPECT_THAT(readLayerWeights(setup, 1 << 20).error().message,
              HasSubstr("holds 2 attention layers (2, 10), expected one of them to be chosen: --layer N, or "
                        "weights.layer in a scene"));
}

/// A scene that adopted them could be saved but not opened again.
TEST_F(SceneFiles, RefusesWeightsWithOutOfRangeOptions) {
  const auto refusal = [&](const char* option, const char* value) {
    auto file = test::smallProblem();
    file.metadata[option] = value;
    EXPECT_TRUE(attention::writeSafetensors(folder_ / "w.safetensors", file).ok());
    return readLoadedWeights(folder_ / "w.safetensors", 1).error().message;
  };
  EXPECT_THAT(refusal("softcap", "5000"),
              HasSubstr("w.safetensors: the soft-cap is 5000, expected 0 to 1000"));
  EXPECT_THAT(refusal("rope_theta", "0.5"), HasSubstr("the RoPE theta is 0.5, expected 1 to 1e9"));
}

TEST_F(SceneFiles, RefusesOversizedWeights) {
  const auto refusal = [&](const char* heads, const char* headDim, std::uint64_t rows,
                           std::uint64_t modelDim) {
    attention::SafetensorsFile file;
    file.metadata = {{"heads", heads}, {"kv_heads", heads}, {"head_dim", headDim}};
    for (const char* name : {"q_proj.weight", "k_proj.weight", "v_proj.weight"})
      file.tensors[name] = test::gaussianTensor({rows, modelDim}, 1);
    file.tensors["o_proj.weight"] = test::gaussianTensor({modelDim, rows}, 1);
    EXPECT_TRUE(attention::writeSafetensors(folder_ / "w.safetensors", file).ok());
    return readLoadedWeights(folder_ / "w.safetensors", 1).error().message;
  };
  EXPECT_THAT(refusal("65", "1", 65, 1), HasSubstr("w.safetensors: the number of heads is 65"));
  EXPECT_THAT(refusal("1", "513", 513, 1), HasSubstr("the head size is 513"));
  EXPECT_THAT(refusal("1", "1", 1, 4097), HasSubstr("the model dim is 4097"));
}

TEST_F(SceneFiles, ReadsTablesAndReportsErrors) {
  test::putFile(folder_ / "t.csv", "name,a,b\nthe,1,2\ncat,3,4.5\n");
  const attention::Table table = readEmbeddings(folder_ / "t.csv").value();
  EXPECT_THAT(table.names, testing::ElementsAre("the", "cat"));
  EXPECT_EQ(table.values(1, 1), 4.5F);
  std::string wide = "0";
  for (int i = 0; i < kMaxModelDim; ++i) wide += ",0";
  test::putFile(folder_ / "wide.csv", wide + "\n");
  EXPECT_THAT(readEmbeddings(folder_ / "wide.csv").error().message,
              HasSubstr("wide.csv: the table is [1, 4097]"));
  std::string tall;
  for (int i = 0; i <= kMaxTokens; ++i) tall += "0\n";
  test::putFile(folder_ / "tall.csv", tall);
  EXPECT_THAT(readEmbeddings(folder_ / "tall.csv").error().message, HasSubstr("[2049, 1]"));
  EXPECT_THAT(readScene(folder_ / "none").error().message, HasSubstr("No such file"));
  EXPECT_THAT(readLoadedWeights(folder_ / "none", 1).error().message, HasSubstr("No such file"));
  EXPECT_THAT(readEmbeddings(folder_ / "none").error().message, HasSubstr("No such file"));
}

}  // namespace
}  // namespace headscope::app
