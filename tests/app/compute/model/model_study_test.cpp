// Models as a scene's subject: what is shown equals what float64 computed (tests/golden_models), whatever the
// source of the text.

#include "app/compute/model/model_study.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "app/pages/model/model_page.h"
#include "app/scene/models/open_model.h"
#include "app/scene/scene_json.h"
#include "tests/app/compute/layer/golden_scene.h"
#include "tests/app/compute/layer/snapshot_support.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/matchers.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using namespace app;
using attention::Matrix;
using attention::Stack;
using attention::test::distance;
using attention::test::Golden;
using attention::test::goldenModel;

/// The largest errors that tests/golden_models/README.md allows.
constexpr double kAttention = 1e-5, kStream = 6e-5;

std::string goldenText(const std::string& family, const std::string& prompt) {
  const auto file = readSafetensors(goldenModel(family) / "expected.safetensors");
  return file->metadata.at(prompt + ".text");
}

class Models : public testing::TestWithParam<std::string> {
 protected:
  ModelStudy study(const app::Setup& setup) {
    auto result = runner.run(modelQuestion(setup), resources, {}, {});
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? *std::move(result) : ModelStudy{};
  }
  std::shared_ptr<const ModelStudy> shared(const app::Setup& setup) {
    ModelRunner fresh;
    auto result = fresh.run(modelQuestion(setup), resources, {}, {});
    EXPECT_TRUE(result.ok()) << result.error().message;
    return std::make_shared<const ModelStudy>(*std::move(result));
  }

  Resources resources{kRoomy};
  ModelRunner runner;
};

TEST_P(Models, HeadsAndResidualStreamMatchGolden) {
  for (const std::string prompt : {"short", "long"}) {
    const Golden golden(GetParam(), prompt);
    const ModelStudy found = study(goldenScene(GetParam(), goldenText(GetParam(), prompt)).setup);
    ASSERT_EQ(found.text.ids, golden.ids("input_ids"));
    const Stack attention = golden.stack("attention"), hidden = golden.stack("hidden");
    EXPECT_LT(distance(found.embedded, hidden[0]), kStream);
    for (Index l = 0; l < std::ssize(found.layers); ++l) {
      const LayerSummary& layer = *found.layers[static_cast<std::size_t>(l)];
      EXPECT_LT(distance(layer.hidden, hidden[l + 1]), kStream) << prompt << " layer " << l;
      for (Index h = 0; h < layer.weights.count(); ++h)
        EXPECT_LT(distance(layer.weights[h], attention[l * layer.weights.count() + h]), kAttention)
            << prompt << " layer " << l << " head " << h;
    }
  }
}

TEST_P(Models, HeadsPageShowsEveryLayer) {
  const Golden golden(GetParam(), "long");
  Scene scene = goldenScene(GetParam(), goldenText(GetParam(), "long"));
  const Stack attention = golden.stack("attention");
  for (Index l = 0; l < scene.setup.subject.opened->config().layerCount(); ++l) {
    scene.setup.subject.layer = l;
    const Snapshot snapshot = computed(scene.setup);
    ASSERT_EQ(snapshot.sequences.size(), 1u);
    const Stack& weights = snapshot.sequences[0].probabilities();
    for (Index h = 0; h < weights.count(); ++h)
      EXPECT_LT(distance(weights[h], attention[l * weights.count() + h]), kAttention) << l << "." << h;
  }
}

TEST_P(Models, GenerationMatchesGoldenTextAndFreshPass) {
  Scene scene = goldenScene(GetParam(), goldenText(GetParam(), "short"));
  if (!scene.setup.subject.opened->config().causal) {
    EXPECT_EQ(study(scene.setup).question.setup.subject.written.size(), 0u);
    return;  // an encoder generates nothing
  }
  const Golden golden(GetParam(), "short");
  ModelStudy now = study(scene.setup);
  std::vector<Index> wanted = golden.ids("greedy_ids");
  const auto& ends = scene.setup.subject.opened->config().endTokens;
  for (std::size_t t = 0; t < wanted.size(); ++t) {
    ASSERT_TRUE(model_page::writeOn(scene, now));
    EXPECT_EQ(scene.setup.subject.written.back(), wanted[t]) << "token " << t;
    now = study(scene.setup);
    if (std::find(ends.begin(), ends.end(), wanted[t]) != ends.end()) break;
  }
  const auto fresh = shared(scene.setup);
  ASSERT_EQ(now.layers.size(), fresh->layers.size());
  for (std::size_t l = 0; l < now.layers.size(); ++l) {
    EXPECT_LT(distance(now.layers[l]->hidden, fresh->layers[l]->hidden), kStream);
    EXPECT_NEAR(now.layers[l]->attentionAdds, fresh->layers[l]->attentionAdds, 1e-4) << "of all tokens";
    EXPECT_NEAR(now.layers[l]->mlpAdds, fresh->layers[l]->mlpAdds, 1e-4);
    for (Index h = 0; h < now.layers[l]->weights.count(); ++h) {
      EXPECT_LT(distance(now.layers[l]->weights[h], fresh->layers[l]->weights[h]), kAttention)
          << l << "." << h;
      EXPECT_EQ(now.layers[l]->heads[static_cast<std::size_t>(h)].label(0.3f).detector,
                fresh->layers[l]->heads[static_cast<std::size_t>(h)].label(0.3f).detector);
    }
  }
  EXPECT_LT(distance(now.cache[0], fresh->cache[0]), 1e-4);
}

TEST_P(Models, MaskedRowsSumToOne) {
  Scene scene = goldenScene(GetParam(), goldenText(GetParam(), "long"));
  scene.setup.mask.layers = layersFrom("causal & window(5)");
  const ModelStudy found = study(scene.setup);
  for (const auto& layer : found.layers)
    for (Index h = 0; h < layer->weights.count(); ++h)
      for (Index row = 0; row < found.tokens(); ++row) {
        EXPECT_NEAR(layer->weights[h].row(row).sum(), 1, 1e-5);
        for (Index col = 0; col < found.tokens(); ++col) {
          if (col <= row && col > row - 5) continue;
          EXPECT_EQ(layer->weights.at(h, row, col), 0) << row << " → " << col;
        }
      }
}

TEST_P(Models, PredictionIsSoftmaxOfGoldenLogits) {
  const Golden golden(GetParam(), "long");
  const Scene scene = goldenScene(GetParam(), goldenText(GetParam(), "long"));
  const auto now = shared(scene.setup);
  const Matrix logits = golden.matrix("logits");
  const Index last = std::ssize(now->layers);
  const auto strip = predictStrip({now, nullptr, last}, {});
  ASSERT_TRUE(strip.ok());
  ASSERT_EQ(std::ssize(*strip), logits.rows());
  const Index ahead = scene.setup.subject.opened->config().causal ? 1 : 0;
  for (Index query = 0; query < logits.rows(); ++query) {
    Eigen::RowVectorXd wanted =
        (logits.row(query).cast<double>().array() - logits.row(query).maxCoeff()).exp();
    wanted /= wanted.sum();
    const auto predictions = predictTokens({now, nullptr, query, last}, {});
    ASSERT_TRUE(predictions.ok());
    EXPECT_EQ(predictions->lens.size(), now->layers.size() + 1);
    Index top = 0;
    const double most = wanted.maxCoeff(&top);
    EXPECT_EQ(predictions->best.front().id, top);
    EXPECT_NEAR(predictions->best.front().probability, most, 1e-4);
    const StripPrediction& one = (*strip)[static_cast<std::size_t>(query)];
    EXPECT_EQ(one.top, top);
    if (query + ahead >= logits.rows()) continue;
    const Index real = now->text.ids[static_cast<std::size_t>(query + ahead)];
    EXPECT_NEAR(one.real, wanted(real), 1e-4);
    EXPECT_EQ(predictions->real->id, real);
    EXPECT_EQ(predictions->rank, one.rank);
    EXPECT_NEAR(one.loss, -std::log(wanted(real)), 1e-3);
  }
}

TEST_P(Models, ForecastMatchesSwitchingHeadOff) {
  Scene scene = goldenScene(GetParam(), goldenText(GetParam(), "long"));
  const auto now = shared(scene.setup);
  const Index last = std::ssize(now->layers);
  for (const Index query : {Index{0}, Index{17}, now->tokens() - 1}) {
    const Index id = predictTokens({now, nullptr, query, last}, {})->best.front().id;
    const auto said = forecast({now, query, id, {{1, 2, HeadOff::zero}}}, resources, {});
    ASSERT_TRUE(said.ok());
    Scene without = scene;
    model_page::switchHead(without, 1, 2);
    const auto off = shared(without.setup);
    StreamStudy plain;
    const auto streams = studyStreams(unchangedQuestion(without.setup), resources, {});
    ASSERT_TRUE(streams.ok());
    const auto real = predictTokens({off, std::make_shared<const StreamStudy>(*streams), query, last}, {});
    const auto found =
        std::find_if(real->best.begin(), real->best.end(), [&](const Prediction& g) { return g.id == id; });
    if (found == real->best.end()) continue;  // no longer among the best
    EXPECT_NEAR(*said, found->probability, 1e-5);
    EXPECT_NEAR(found->unchanged, predictTokens({now, nullptr, query, last}, {})->best.front().probability,
                1e-5);
  }
}

TEST_P(Models, RestoringASwitchedOffHeadIsBitExact) {
  Scene scene = goldenScene(GetParam(), goldenText(GetParam(), "short"));
  const auto before = shared(scene.setup);
  model_page::switchHead(scene, 0, 1);
  const auto off = shared(scene.setup);
  EXPECT_TRUE(sameBits(before->layers[0]->weights, off->layers[0]->weights)) << "its own weights stay";
  EXPECT_GT(distance(before->layers[0]->hidden, off->layers[0]->hidden), 1e-6);
  EXPECT_EQ(off->layers[0]->headOutput[1].cwiseAbs().maxCoeff(), 0);
  model_page::switchHead(scene, 0, 1);
  const auto after = shared(scene.setup);
  for (std::size_t l = 0; l < before->layers.size(); ++l)
    EXPECT_TRUE(sameBits(before->layers[l]->hidden, after->layers[l]->hidden));
}

INSTANTIATE_TEST_SUITE_P(Golden, Models, testing::ValuesIn(attention::test::kGoldenFamilies),
                         [](const auto& family) { return family.param; });

class OneModel : public Models {};

TEST_P(OneModel, ReportsLayersOneByOneAndStops) {
  const app::Setup setup = goldenScene(GetParam(), goldenText(GetParam(), "long")).setup;
  std::vector<Index> told;
  std::stop_source stop;
  const auto result = runner.run(
      modelQuestion(setup), resources,
      [&](Index layer, const auto& summary) {
        told.push_back(layer);
        EXPECT_EQ(summary->weights.rows(), 40);
        stop.request_stop();
      },
      stop.get_token());
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(told, std::vector<Index>{0});
  EXPECT_TRUE(study(setup).layers.size() > 1) << "and asked again it is whole";
}

TEST_P(OneModel, RowsSumToOneWithoutFirstToken) {
  const ModelStudy found = study(goldenScene(GetParam(), goldenText(GetParam(), "short")).setup);
  const Matrix shown = drawModelHead(*found.layers[0], 0, 1, true);
  for (Index row = 1; row < shown.rows(); ++row) {
    EXPECT_EQ(shown(row, 0), render::kMaskedCell);
    EXPECT_NEAR(shown.row(row).segment(1, row).sum(), 1, 1e-5);
  }
}

TEST_P(OneModel, RefusesTextBeyondPositionLimit) {
  Scene scene = goldenScene("gpt2", "");
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a b ";
  scene.setup.input.text = text;
  const auto result = runner.run(modelQuestion(scene.setup), resources, {}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("48"));
  EXPECT_THAT(refused(scene.setup).message, HasSubstr("48"));
}

TEST_P(OneModel, ChangingTextDropsGeneratedTokens) {
  Scene scene = goldenScene(GetParam(), "a b");
  scene.setup.subject.written = {1, 2};
  const app::Setup before = scene.setup;
  scene.setup.model.sharpness = 2;
  forgetWritten(before, scene.setup);
  EXPECT_EQ(scene.setup.subject.written.size(), 2u);
  scene.setup.input.text = "a c";
  forgetWritten(before, scene.setup);
  EXPECT_TRUE(scene.setup.subject.written.empty());
}

TEST_P(OneModel, MissingModelFolderKeepsTheScene) {
  TemporaryFolder folder;
  std::filesystem::copy(goldenModel(GetParam()), folder / "m");
  Scene scene = goldenScene(GetParam(), "a b");
  scene.setup.subject.model = (folder / "m").string();
  scene.setup.subject.switchedOff = {{1, 0, HeadOff::mean}};
  scene.setup.subject.written = {5, 6};
  ASSERT_TRUE(writeScene(folder / "s.json", scene).ok());
  const auto here = readScene(folder / "s.json");
  ASSERT_TRUE(here.ok()) << here.error().message;
  EXPECT_EQ(here->setup.subject.switchedOff, scene.setup.subject.switchedOff);
  ASSERT_TRUE(here->setup.subject.opened);
  std::filesystem::remove_all(folder / "m");
  const auto gone = readScene(folder / "s.json");
  ASSERT_TRUE(gone.ok()) << gone.error().message;
  EXPECT_FALSE(gone->setup.subject.opened);
  EXPECT_THAT(gone->setup.subject.problem, HasSubstr("is missing"));
  EXPECT_EQ(gone->setup.subject.written, scene.setup.subject.written);
  EXPECT_EQ(refused(gone->setup).message, gone->setup.subject.problem);
  ASSERT_TRUE(writeScene(folder / "t.json", *gone).ok());
  std::filesystem::copy(goldenModel(GetParam()), folder / "m");
  const auto back = readScene(folder / "t.json");
  ASSERT_TRUE(back.ok());
  EXPECT_TRUE(back->setup.subject.opened) << "nothing was lost";
  EXPECT_EQ(back->setup.subject.written, scene.setup.subject.written);
}

TEST_P(OneModel, NamesMissingLayersHeadsAndTokens) {
  TemporaryFolder folder;
  const auto read =
      [&](const std::string& subject) {
        std::ofstream(folder / "s.json")
            << R"({"format": "headscope scene", "version": 2, "subject": {"model": ")"
            << goldenModel(GetParam()).string() << "\", " << subject << "}}";
        const auto scene = readScene(folder / "s.json");
        return scene.ok() ? std::string() : scene.error().message;
      };
  EXPECT_EQ(read("\"layer\": 1"), "");
  EXPECT_THAT(read("\"layer\": 7"), HasSubstr("subject.layer is 7"));
  EXPECT_THAT(read(R"("switched_off": [{"layer": 0, "head": 99, "by": "zero"}])"), HasSubstr("head is 99"));
  EXPECT_THAT(read("\"written\": [5000]"), HasSubstr("5000"));
}

INSTANTIATE_TEST_SUITE_P(Golden, OneModel, testing::Values("llama"));

TEST(ModelCache, ListsModelsDownloadedFromTheHub) {
  TemporaryFolder hub;
  namespace fs = std::filesystem;
  const auto add = [&](const std::string& model, const std::string& revision) {
    const fs::path snapshot = hub.path() / model / "snapshots" / revision,
                   blobs = hub.path() / model / "blobs";
    fs::create_directories(snapshot);
    fs::create_directories(blobs);
    for (const auto& entry : fs::directory_iterator(goldenModel("gpt2"))) {
      const std::string name = entry.path().filename().string();
      fs::copy(entry.path(), blobs / (revision + name));
      fs::create_symlink(fs::path("../../blobs") / (revision + name),
                         snapshot / name);  // like the links the hub makes
    }
  };
  add("models--openai--gpt2", "aaaa");
  add("models--openai--gpt2", "bbbb");
  fs::create_directories(hub.path() / "models--openai--gpt2" / "refs");
  std::ofstream(hub.path() / "models--openai--gpt2" / "refs" / "main") << "aaaa";
  add("models--tiny", "cccc");
  fs::create_directories(hub.path() / "models--half" / "snapshots" / "dddd");  // incomplete, without a config
  fs::create_directories(hub.path() / "datasets--x");
  const auto found = cachedModels(hub.path());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "openai/gpt2");
  EXPECT_EQ(found[0].folder.filename(), "aaaa");
  EXPECT_EQ(found[1].name, "tiny");
  const auto opened = openModel(found[0].folder.string());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  EXPECT_EQ((*opened)->name, "openai/gpt2");
  EXPECT_TRUE(cachedModels(hub.path() / "nowhere").empty());
}

/// refs/main names a folder of snapshots or nothing. It is never waited for, nor read beyond the length of a
/// name.
TEST(ModelCache, IgnoresInvalidRefs) {
  TemporaryFolder hub;
  namespace fs = std::filesystem;
  const fs::path model = hub.path() / "models--a", snapshot = model / "snapshots" / "aaaa",
                 refs = model / "refs";
  fs::create_directories(snapshot);
  fs::create_directories(refs);
  for (const fs::path& folder : {model, model / "snapshots", snapshot})
    putFile(folder / "config.json", std::string_view("{}"));
  const auto expectSnapshot = [&](const std::string& what) {
    const auto found = cachedModels(hub.path());
    ASSERT_EQ(found.size(), 1u) << what;
    EXPECT_EQ(found[0].folder, fs::absolute(snapshot)) << what;
  };
  for (const std::string name : {"", ".", "..", "../..", "bbbb", "aaaa\n"}) {
    putFile(refs / "main", name);
    expectSnapshot(name);
  }
  fs::resize_file(refs / "main", 3'221'225'472);
  expectSnapshot("3 GB");
  fs::remove(refs / "main");
  ASSERT_EQ(::mkfifo((refs / "main").c_str(), 0600), 0);
  expectSnapshot("a pipe");
}

}  // namespace
}  // namespace headscope::test
