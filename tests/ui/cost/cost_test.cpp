// The cost page: memory and time for a model of any size.

#include <gtest/gtest.h>

#include "app/compute/cost/cost_figures.h"
#include "app/scene/models/open_model.h"
#include "app/scene/models/scene_model.h"
#include "attention/formats/safetensors.h"
#include "tests/support/compare_image.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/ui/cost/cost_screen.h"

namespace headscope::test {
namespace {

using app::Key;
using attention::NumberFormat;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

TEST_F(CostOnScreen, OpensByKeyAndTabWithDefaultRequest) {
  EXPECT_EQ(ui.scene().cursor.page, "cost");
  EXPECT_EQ(figures().shape.name, "Llama-3.1-70B");
  EXPECT_EQ(figures().cost.total, 40 * kGiB);
  EXPECT_EQ(figures().cost.perGpu, 20 * kGiB);
  ui.key(static_cast<Key>('1'));
  EXPECT_FALSE(ui.has("cost.answer"));
  ui.click("page.cost");
  EXPECT_TRUE(ui.has("cost.answer"));
}

TEST_F(CostOnScreen, SelectsModelsByClickSearchAndArrows) {
  ui.click("model.Llama-3.1-8B");
  EXPECT_EQ(figures().cost.perToken, 131072u);
  ui.key(Key::slash).frames(2).type("deepseek");
  EXPECT_TRUE(ui.has("model.DeepSeek-V3"));
  EXPECT_FALSE(ui.has("model.Llama-3.1-8B"));
  ui.click("model.DeepSeek-V3");
  EXPECT_EQ(figures().cost.perToken, 70272u);
  EXPECT_TRUE(ui.has("factor.latent"));
  EXPECT_FALSE(ui.has("factor.keys_values")) << "no factor 2";
  ui.replaceText("cost.search", "").clickAway().hover("plot.memory").key(Key::up);
  EXPECT_EQ(figures().shape.name, "DeepSeek-V2-Lite");
  ui.key(Key::down);
  EXPECT_EQ(figures().shape.name, "DeepSeek-V3");
}

TEST_F(CostOnScreen, EnterSelectsFirstSearchResult) {
  ui.key(Key::slash).frames(2).type("deepseek v3").key(Key::enter);
  EXPECT_EQ(figures().shape.name, "DeepSeek-V3");
  EXPECT_EQ(ui.scene().cursor.page, "cost");
}

TEST_F(CostOnScreen, OpenMenuCapturesArrowKeys) {
  const std::string before = figures().shape.name;
  ui.click("memory_plot").key(Key::down);
  EXPECT_EQ(figures().shape.name, before);
}

TEST_F(CostOnScreen, ThisLayerOfOpenedModelCountsAsOneLayer) {
  const auto opened = app::openModel(app::kLearned);
  ASSERT_TRUE(opened.ok());
  app::Scene scene = ui.scene();
  app::adoptModel(scene, app::kLearned, *opened);
  scene.cost.model = "";
  ui.show(scene);
  EXPECT_EQ(figures().shape.layers, 1);
  ui.session().scene().cost.model = app::kOpenedModel;
  ui.draw();
  std::uint64_t bytes = 0;
  for (const auto& [name, tensor] : (*opened)->model->checkpoint().tensors()) bytes += tensor.bytes;
  EXPECT_EQ(figures().cost.weights, bytes) << "counted, not estimated";
}

TEST_F(CostOnScreen, OwnLayerIsAlwaysInSight) {
  EXPECT_TRUE(ui.visible("model.this_layer")) << "another model is chosen";
  app::uiState().watches = true;
  ui.session().scene().setup.model.kvHeads = 1;
  ui.frames(2);
  EXPECT_TRUE(ui.says("Your layer  8 heads, 1 kv head"));
  ui.click("model.this_layer");
  EXPECT_EQ(cost().model, app::kThisLayer);
  EXPECT_EQ(figures().cost.perToken, 2u * 1 * 32 * 2);
}

TEST_F(CostOnScreen, ThisLayerCanBeUsedAsModel) {
  pick("model.this_layer", "this layer");
  EXPECT_EQ(figures().cost.perToken, 2u * 2 * 32 * 2);
  EXPECT_EQ(figures().shape.layers, 1);
  ui.session().scene().setup.model.kvHeads = 8;
  ui.draw();
  EXPECT_EQ(figures().cost.perToken, 2u * 8 * 32 * 2) << "and follows the layer";
  EXPECT_EQ(app::costExplanations(figures()).front().find("trained"), std::string::npos)
      << "nobody trained it";
}

TEST_F(CostOnScreen, RequestChangesFiguresAndIsUndoable) {
  ui.choose("cost.dtype", "int8");
  EXPECT_EQ(figures().cost.total, 20 * kGiB);
  ui.typeValue("cost.tokens", "8192");
  EXPECT_EQ(figures().cost.total, 20 * kGiB / 16);
  ui.typeValue("cost.batch", "3");
  EXPECT_EQ(figures().cost.total, 3 * 20 * kGiB / 16);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(cost().batch, 1);
  ui.chord(kCtrl, Key::z).chord(kCtrl, Key::z);
  EXPECT_EQ(cost(), app::CostSetup());
}

TEST_F(CostOnScreen, WheelChangesRequestFactors) {
  ui.turn("factor.tokens", 1);
  EXPECT_EQ(cost().tokens, 262144);
  ui.turn("factor.tokens", -2);
  EXPECT_LE(cost().tokens, 131072);
  ui.turn("factor.batch", 1);
  EXPECT_EQ(cost().batch, 2);
  ui.turn("factor.dtype", 1);
  EXPECT_EQ(cost().format, NumberFormat::fp16);
  ui.turn("factor.kv_heads", 1);
  EXPECT_EQ(figures().shape.kvHeads, 8) << "a model's shape is its own";
}

TEST_F(CostOnScreen, DraggingFactorIsOneUndoStep) {
  const auto drag = [&](const char* name, float by) {
    const float width = ui.find(name).GetWidth();
    ui.dragAcross(name, {0.5f, 0.5f}, {0.5f + by / width, 0.5f});
  };
  drag("factor.tokens", 3 * 22 + 4);
  EXPECT_EQ(cost().tokens, 8 * 131072);
  ui.wait(2);
  drag("factor.tokens", -22 - 4);
  EXPECT_EQ(cost().tokens, 4 * 131072);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(cost().tokens, 8 * 131072) << "from press to release is one step";
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(cost(), app::CostSetup());
  drag("factor.batch", -300);
  EXPECT_EQ(cost().batch, 1) << "not below one";
  drag("factor.dtype", 22 + 4);
  EXPECT_EQ(cost().format, NumberFormat::fp16);
  drag("factor.layers", 200);
  EXPECT_EQ(figures().shape.layers, 80) << "a model's shape is its own";
  ui.click("factor.tokens");
  EXPECT_EQ(cost().tokens, 131072) << "a click alone changes nothing";
}

TEST_F(CostOnScreen, ArrowKeysHalveAndDouble) {
  ui.hover("plot.memory").key(Key::right);
  EXPECT_EQ(cost().tokens, 262144);
  ui.key(Key::left).key(Key::left);
  EXPECT_EQ(cost().tokens, 65536);
  ui.chord({.shift = true}, Key::right);
  EXPECT_EQ(cost().batch, 2);
}

TEST_F(CostOnScreen, KeysWorkOverControlsUnlessSliderUsesThem) {
  ui.click("model.Llama-3.1-8B");
  ui.key(Key::right);  // the pointer is over the list
  EXPECT_EQ(cost().tokens, 262144);
  ui.key(Key::down);
  EXPECT_EQ(figures().shape.name, "Llama-3.1-70B");
  ui.hover("cost.batch.track").frames(2).key(Key::right);
  EXPECT_EQ(cost().batch, 2) << "the slider under the pointer";
  EXPECT_EQ(cost().tokens, 262144) << "and it alone";
  ui.key(Key::down);
  EXPECT_EQ(figures().shape.name, "Llama-3.1-70B");
  ui.hover("cost.batch.value").doubleClick("cost.batch.value").key(Key::left);
  EXPECT_EQ(cost().tokens, 262144) << "typed in";
}

TEST_F(CostOnScreen, GpuTilesSplitModelAndShowFittingCard) {
  ui.click("gpus.16");
  EXPECT_EQ(cost().gpus, 16);
  EXPECT_EQ(figures().cost.copies, 2);
  EXPECT_EQ(ui.session().page<app::cost_page::Page>().state().gpus[4].fitsGb, 24)
      << "14.5 GB are more than the usable part of 16";
  pick("model.GPT-2 XL", "GPT-2 XL");
  EXPECT_EQ(figures().request.tensorParallel, 1) << "25 heads";
  ui.click("gpus.2");
  EXPECT_EQ(figures().request.tensorParallel, 1);
  EXPECT_FALSE(ui.session().page<app::cost_page::Page>().state().gpus[1].reason.empty());
  ui.typeValue("cost.gpus", "2");
  EXPECT_THAT(ui.view().controls.refusal.reason, HasSubstr("25 heads can't be split evenly over 2 GPUs"));
}

TEST_F(CostOnScreen, ShiftDigitSelectsTileAndDigitSwitchesPage) {
  const auto shifted = [&](char digit) { ui.chord({.shift = true}, static_cast<Key>(digit)); };
  shifted('5');
  EXPECT_EQ(cost().gpus, 16);
  EXPECT_EQ(ui.scene().cursor.page, "cost");
  shifted('2');
  EXPECT_EQ(cost().gpus, 2);
  ui.chord(kCtrl, Key::z);
  EXPECT_EQ(cost().gpus, 16) << "each is a step";
  pick("model.GPT-2 XL", "GPT-2 XL");
  shifted('2');
  EXPECT_EQ(figures().request.tensorParallel, 1);
  EXPECT_THAT(ui.view().messages.error, HasSubstr("25 heads can't be split evenly over 2 GPUs"));
  ui.click("cost.search");
  shifted('3');
  EXPECT_EQ(cost().gpus, 16) << "typed, not asked for";
  ui.clickAway().key(static_cast<Key>('1'));
  EXPECT_EQ(ui.scene().cursor.page, "heads");
  shifted('3');
  EXPECT_EQ(cost().gpus, 16) << "a key of that page alone";
}

TEST_F(CostOnScreen, ChosenMachineSetsTheRoof) {
  ui.choose("machine", "MI300X");
  EXPECT_EQ(figures().machine.memoryGb, 192);
  EXPECT_EQ(cost().device, "MI300X");
}

TEST_F(CostOnScreen, ReportsFiguresThatAreTooLarge) {
  pick("model.GPT-3 175B", "GPT-3 175B");
  ui.typeValue("cost.tokens", "1099511627776").typeValue("cost.batch", "65536");
  EXPECT_TRUE(figures().tooLarge());
  EXPECT_TRUE(ui.has("cost.answer"));
  ui.typeValue("cost.tokens", "9223372036854775808");
  EXPECT_NE(ui.session().view().controls.refusal.reason.find("is too large"), std::string::npos);
  ui.typeValue("cost.tokens", "1099511627777");
  EXPECT_EQ(cost().tokens, 1099511627776);
}

TEST_F(CostOnScreen, DroppedConfigBecomesTheModel) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "mine");
  const auto path = folder / "mine" / "config.json";
  putFile(path, R"({"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 8, "vocab_size": 100,
                    "max_position_embeddings": 512})");
  ui.key(static_cast<Key>('1')).drop({path.string()});
  EXPECT_EQ(ui.scene().cursor.page, "cost");
  EXPECT_EQ(figures().shape.name, "mine");
  EXPECT_EQ(figures().cost.perToken, 2u * 2 * 64 * 2);
  EXPECT_EQ(cost().tokens, 512);
  putFile(path, R"({"architectures": ["MambaForCausalLM"]})");
  ui.drop({path.string()});
  EXPECT_THAT(ui.session().page<app::cost_page::Page>().state().problem, HasSubstr("it lacks layers"));
  EXPECT_TRUE(ui.has("cost.problem")) << "beside the button";
  EXPECT_EQ(figures().shape.name, "mine") << "what was there stays";
}

TEST_F(CostOnScreen, HoveringPlotHighlightsTokens) {
  ui.hoverAt("plot.memory", 0.5f, 0.5f);
  EXPECT_TRUE(ui.session().page<app::cost_page::Page>().state().tokensLit.has_value());
  ui.hover("cost.answer").frames(2);
  EXPECT_FALSE(ui.session().page<app::cost_page::Page>().state().tokensLit.has_value());
}

TEST_F(CostOnScreen, EncodersHaveNoCache) {
  pick("model.BERT-base", "BERT-base");
  EXPECT_EQ(figures().cost.total, 0u);
  EXPECT_FALSE(figures().shape.decodes);
}

TEST_F(CostOnScreen, HasNoLayoutFlaws) {
  ui.park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(CostOnScreen, HasNoLayoutFlawsInLightTheme) {
  ui.chord(kCtrl, Key::l).choose("memory_plot", "matrices").choose("work_plot", "decode");
  ui.session().scene().cost.model = "Gemma-3-27B";
  ui.park().wait(0.5);
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(SmallCost, SmallestWindowScrollsToPlots) {
  ui.resize(640, 400);
  EXPECT_TRUE(ui.has("cost.total")) << "in a line of its own";
  EXPECT_FALSE(ui.has("plot_tab.Memory"));
  ui.wheelAt("cost.answer", 0.5f, 0.5f, -40).frames(4);
  EXPECT_TRUE(ui.has("plot_tab.Memory"));
}

TEST_F(SmallCost, PresentsTheAnswer) {
  ui.key(Key::p).park().wait(0.3);
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

TEST_F(SmallCost, PresentsPlotsOneAfterAnother) {
  ui.key(Key::p);
  EXPECT_TRUE(ui.has("factor.tokens"));
  EXPECT_FALSE(ui.has("plot.memory"));
  for (const char* name : {"plot.memory", "plot.work", "plot.roofline"}) {
    ui.key(Key::pageDown).park().wait(0.3);
    ASSERT_TRUE(ui.has(name)) << name;
    EXPECT_GT(ui.find(name).GetHeight(), 250) << "large enough to be read from the last row";
    EXPECT_TRUE(ui.has("cost.answer"));
    EXPECT_FALSE(ui.has("factor.tokens"));
  }
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
  ui.key(Key::pageDown);
  EXPECT_TRUE(ui.has("factor.tokens")) << "and round";
  ui.key(Key::pageUp);
  EXPECT_TRUE(ui.has("plot.roofline"));
  ui.key(Key::right);
  EXPECT_EQ(cost().tokens, 262144);
  ui.key(Key::escape);
  EXPECT_TRUE(ui.has("plot_tab.Memory"));
}

TEST_F(SmallCost, ShowsOnePlotAtATime) {
  EXPECT_TRUE(ui.has("plot.memory"));
  EXPECT_FALSE(ui.has("plot.work"));
  ui.park();
  EXPECT_TRUE(imagesMatch(ui.screenshot("plot.memory"), "plot_memory"));
  ui.key(Key::pageDown);
  EXPECT_TRUE(ui.has("plot.work"));
  ui.click("plot_tab.Roofline");
  EXPECT_TRUE(ui.has("plot.roofline"));
  ui.park();
  EXPECT_TRUE(imagesMatch(ui.screenshot("plot.roofline"), "plot_roofline"));
  ui.click("plot_tab.Work").park();
  EXPECT_THAT(flaws(ui), testing::IsEmpty());
}

}  // namespace
}  // namespace headscope::test
