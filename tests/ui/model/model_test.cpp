// The page Model: pointing at heads, switching them off, generating text.

#include <gtest/gtest.h>

#include "app/pages/model/model_page.h"
#include "app/platform/preferences.h"
#include "app/scene/scene_json.h"
#include "tests/attention/models/golden_models.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/page_check.h"
#include "tests/support/temporary_folder.h"

namespace headscope::test {
namespace {

using app::Key;
using attention::Index;
using attention::test::goldenModel;

constexpr app::Mods kShift{.shift = true};

class ModelPages : public testing::Test {
 protected:
  ModelPages() { app::saveRecent({}); }  // clears entries of earlier tests
  const app::model_page::State& page() { return ui.session().page<app::model_page::Page>().state(); }
  void open(const std::string& family) { ui.drop({goldenModel(family).string()}); }
  const std::vector<Index>& written() { return ui.scene().setup.subject.written; }

  UiDriver ui;
};

/// A model like EmbeddingGemma: bidirectional, and saved without an output head.
TEST_F(ModelPages, BidirectionalDecoderShowsFittingMasksAndNotes) {
  TemporaryFolder folder;
  std::filesystem::copy(goldenModel("gemma2"), folder / "two", std::filesystem::copy_options::recursive);
  std::string config = fileText(folder / "two/config.json");
  const std::string cache = "\"use_cache\": true", name = "Gemma2ForCausalLM";
  config.replace(config.find(cache), cache.size(), "\"use_bidirectional_attention\": true");
  config.replace(config.find(name), name.size(), "Gemma2Model");
  putFile(folder / "two/config.json", config);
  ui.drop({(folder / "two").string()});
  ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  EXPECT_TRUE(ui.has("model.note"));
  EXPECT_TRUE(ui.has("model.headless"));
  EXPECT_FALSE(ui.has("model.causal"));
  ui.click("model.step");
  EXPECT_THAT(written(), IsEmpty());
  ASSERT_TRUE(page().study);
  // Attention reaches from the first query to the last key unless a window prevents it.
  const attention::ModelConfig& read = ui.scene().setup.subject.opened->config();
  EXPECT_EQ(read.maskText(1), "full");
  EXPECT_EQ(read.maskText(0), "window_both(10)");
}

TEST_F(ModelPages, ClickSelectsCellAndDoubleClickOpensHeads) {
  open("gpt2");
  ui.clickAt("model.1.2", 0.1f, 0.9f);
  const Index n = page().tokens();
  EXPECT_EQ(ui.scene().cursor.page, "model");
  EXPECT_EQ(ui.scene().cursor.model.layer, 1);
  EXPECT_EQ(ui.scene().cursor.cell, (app::Cell{2, static_cast<Index>(0.9 * static_cast<double>(n)),
                                               static_cast<Index>(0.1 * static_cast<double>(n))}));
  EXPECT_TRUE(ui.has("model.large"));
  ui.doubleClick("model.1.2");
  EXPECT_EQ(ui.scene().cursor.page, "heads");
  EXPECT_EQ(ui.scene().cursor.focus, 2);
  EXPECT_EQ(ui.scene().setup.subject.layer, 1);
  const attention::Stack& weights = ui.sequence().probabilities();
  EXPECT_EQ(weights.count(), 4);
  ui.find("model.layer");
  ui.key(static_cast<Key>('7'));
  EXPECT_EQ(ui.scene().cursor.page, "model");
}

TEST_F(ModelPages, SelectedHeadStaysWhilePointerMoves) {
  open("gpt2");
  ui.clickAt("model.0.1", 0.2f, 0.8f).hoverAt("model.1.3", 0.2f, 0.8f).wait(1);
  EXPECT_EQ(ui.scene().cursor.cell.head, 1);
  EXPECT_EQ(ui.scene().cursor.model.layer, 0);
  ui.clickAt("model.1.3", 0.2f, 0.7f);
  EXPECT_EQ(ui.scene().cursor.cell.head, 3);
}

TEST_F(ModelPages, DisablingHeadShowsChangeInPredictions) {
  open("gpt2");
  ui.key(Key::down).key(Key::right);
  EXPECT_EQ(ui.scene().cursor.model.layer, 1);
  EXPECT_EQ(ui.scene().cursor.cell.head, 1);
  ASSERT_TRUE(page().predictions.newest());
  const float before = page().predictions->best.front().probability;
  EXPECT_LT(page().predictions->best.front().unchanged, 0);
  ui.key(Key::x);
  ASSERT_EQ(ui.scene().setup.subject.switchedOff.size(), 1u);
  ASSERT_TRUE(page().predictions.newest());
  const auto& lens = page().predictions->lens.back();
  EXPECT_GE(lens.unchanged, 0);
  EXPECT_TRUE(ui.has("off.0"));
  ui.choose("off.0", "mean");
  EXPECT_EQ(ui.scene().setup.subject.switchedOff.front().by, app::HeadOff::mean);
  ui.chord(kShift, Key::r);
  EXPECT_THAT(ui.scene().setup.subject.switchedOff, IsEmpty());
  EXPECT_EQ(page().predictions->best.front().probability, before);
}

TEST_F(ModelPages, GeneratesTokensStepByStepAndTakesThemBack) {
  open("llama");
  const Index typed = page().tokens();
  ui.key(Key::period).key(Key::period);
  ASSERT_EQ(written().size(), 2u);
  EXPECT_EQ(page().tokens(), typed + 2);
  EXPECT_EQ(ui.scene().cursor.cell.query, typed + 1) << "the newest token asks";
  const std::vector<Index> two = written();
  ui.key(Key::comma);
  EXPECT_EQ(written(), (std::vector<Index>{two[0]}));
  ui.key(Key::period);
  EXPECT_EQ(written(), two) << "greedy writes the same again";
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(written().size(), 1u);
}

TEST_F(ModelPages, PlayGeneratesUntilPaused) {
  open("llama");
  ui.click("model.play");
  for (int i = 0; i < 200 && written().size() < 4; ++i) {
    ui.frames(4);
    ui.app().session().settle();
  }
  EXPECT_GE(written().size(), 4u);
  ui.click("model.play");
  const std::size_t paused = written().size();
  ui.wait(1);
  EXPECT_EQ(written().size(), paused);
  ui.chord(kCtrl, Key::z);
  EXPECT_THAT(written(), IsEmpty()) << "what was written in one go is one step";
}

TEST_F(ModelPages, ClickedPredictionIsAppendedUntilTextChanges) {
  open("llama");
  ui.click("strip." + std::to_string(page().tokens() - 1));
  const Index second = page().predictions->best[1].id;
  ui.click("guess.1");
  EXPECT_EQ(written(), (std::vector<Index>{second}));
  ui.replaceText("text", "another text");
  EXPECT_THAT(written(), IsEmpty()) << "what was written belongs to the text before";
}

TEST_F(ModelPages, AppliesMasksAndReadsEarlierLayers) {
  open("gpt2");
  ui.click("window");
  const app::LayerSummary& layer = *page().layer(0);
  const Index last = page().tokens() - 1;
  EXPECT_EQ(layer.weights.at(0, last, 0), 0) << "beyond the window";
  EXPECT_TRUE(page().unchanged);
  ui.key(static_cast<Key>('['));
  EXPECT_EQ(ui.scene().cursor.model.stop, 1);
  EXPECT_EQ(page().predictions.request().stop, 1);
  ui.click("model.stop.2");
  EXPECT_EQ(ui.scene().cursor.model.stop, -1);
}

TEST_F(ModelPages, FilterSelectsDetector) {
  open("gpt2");
  ui.park();
  const render::Image before = ui.screenshot();
  const std::string first = ui.names("filter.")[1];
  const std::string name = first.substr(std::string("filter.").size());
  ui.click(first == "filter.all" ? ui.names("filter.")[0] : first).park();
  EXPECT_FALSE(ui.scene().cursor.model.detector.empty());
  ui.choose("model.order", "score");
  EXPECT_TRUE(ui.scene().cursor.model.byScore);
  ui.key(Key::d0, kShift).park();
  EXPECT_TRUE(ui.scene().cursor.model.detector.empty());
}

TEST_F(ModelPages, TooLongTextKeepsLastPicture) {
  open("gpt2");
  const auto study = page().study.shared();
  std::string text;
  for (int i = 0; i < 60; ++i) text += "a b ";
  ui.session().scene().setup.input.text = text;
  ui.draw();
  EXPECT_EQ(page().study.shared(), study);
  EXPECT_THAT(page().study.problem(), HasSubstr("48"));
  ui.session().scene().setup.input.text = "short again";
  ui.draw();
  EXPECT_EQ(page().study.problem(), "");
}

TEST_F(ModelPages, BundledModelOpensWithOneClick) {
  ui.click("learned");
  ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  EXPECT_EQ(ui.scene().setup.subject.model, app::kLearned);
  EXPECT_GE(ui.names("skill.").size(), 5u);
  for (const std::string& skill : ui.names("skill.")) {
    ui.click(skill);
    EXPECT_EQ(page().study.problem(), "") << skill;
    EXPECT_TRUE(page().predictions.newest());
  }
  // The forecasts without this head, and without all heads like it, are really computed.
  ui.scrollToTop();
  for (const std::string& skill : ui.names("skill."))
    if (page().head.forecasts.empty()) ui.click(skill);
  ui.wait(0.5).draw();
  ASSERT_FALSE(page().head.forecasts.empty());
  EXPECT_EQ(page().head.forecasts[0].words, "this head");
  ASSERT_TRUE(page().forecast.newest());
  EXPECT_EQ(page().forecast->size(), page().head.forecasts.size());
  for (const auto& each : page().head.forecasts) EXPECT_THAT(each.words, testing::Not(HasSubstr("all 0")));
  // Unknown words are split into smaller pieces.
  ui.replaceText("text", "Zyzzyva \xF0\x9F\xA6\x8A!");
  EXPECT_EQ(page().study.problem(), "");
  EXPECT_GT(page().tokens(), 3);
}

TEST_F(ModelPages, ShowsRecordedAttention) {
  TemporaryFolder folder;
  const attention::test::Golden golden("llama", "short");
  attention::SafetensorsFile file;
  file.tensors["attention"] = golden.tensor("attention");
  ASSERT_TRUE(attention::writeSafetensors((folder / "a.safetensors").string(), file).ok());
  ui.key(static_cast<Key>('7')).drop({(folder / "a.safetensors").string()});
  ASSERT_TRUE(ui.scene().setup.subject.opened) << ui.view().messages.error;
  const attention::Stack attention = golden.stack("attention");
  EXPECT_EQ(page().tokens(), attention.rows());
  EXPECT_LT(attention::test::distance(page().layer(1)->weights[2], attention[4 + 2]), 1e-7);
  EXPECT_TRUE(page().model.config->causal);
  ui.hoverAt("model.1.2", 0.1f, 0.9f).frames(3);
  EXPECT_TRUE(ui.has("model.large"));
  EXPECT_FALSE(ui.has("model.play"));
  for (const auto& lab : app::pageTable()) {
    ui.session().scene().cursor.page = lab.info.key;
    ui.draw();  // the page says that there is nothing else to show
  }
  ui.session().scene().cursor.page = "heads";
  ui.draw();
  ASSERT_TRUE(ui.session().error());
  EXPECT_THAT(*ui.session().error(), HasSubstr("recorded"));
}

TEST_F(ModelPages, FitsInEveryState) {
  const auto looks = [&](const std::string& name) {
    ui.park();
    EXPECT_THAT(cutOff(ui), testing::IsEmpty()) << name;
  };
  ui.resize(1280, 720).key(static_cast<Key>('7')).wait(1);
  looks("no model");
  open("qwen2");
  ui.wait(5);  // the message about opening disappears
  looks("a small window");
  ui.resize(1920, 1080).clickAt("model.1.1", 0.3f, 0.8f).key(Key::x);
  for (int i = 0; i < 3; ++i) ui.key(Key::period);
  ui.wait(1);
  looks("three tokens written, a head off");
  EXPECT_TRUE(imagesMatch(ui.screenshot("model.large"), "model_head"));
  ui.chord(kCtrl, Key::l).wait(1);
  looks("light");
  ui.chord(kCtrl, Key::l).key(Key::p).wait(1);
  looks("presenting");
}

TEST_F(ModelPages, FitsWithEncoderAndMissingFolder) {
  ui.resize(1920, 1080);
  open("bert");
  ui.wait(5).park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  app::Scene scene = app::openingScene();
  scene.setup.subject.model = "/gone/llama";
  scene.setup.subject.problem =
      "/gone/llama: is missing, expected a folder with config.json and model.safetensors, or a "
      "GGUF file";
  scene.cursor.page = "model";
  ui.session().setScene(scene);
  ui.wait(1).park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(ModelPages, EveryPageWorksOnEveryFamily) {
  for (const std::string& family : attention::test::kGoldenFamilies) {
    open(family);
    ASSERT_TRUE(ui.scene().setup.subject.opened) << family;
    for (const auto& lab : app::pageTable()) {
      ui.session().scene().cursor.page = lab.info.key;
      ui.draw();
      EXPECT_FALSE(ui.session().error()) << family << " on " << lab.info.key << ": " << *ui.session().error();
    }
  }
}

}  // namespace
}  // namespace headscope::test
