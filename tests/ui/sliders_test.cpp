// Every slider: set by dragging, the wheel, the keyboard and typing; never to an illegal value.

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/support/matchers.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Index;
using app::Key;
using app::Scene;

TEST(Sliders, HeadsTakeOnlyDivisorsOfTheModelDim) {
  UiDriver ui;
  ui.dragTo("heads", -0.3f);
  EXPECT_EQ(ui.scene().setup.model.heads, 1);
  EXPECT_EQ(ui.snapshot().config.heads, 1);
  ui.dragTo("heads", 1.3f);
  EXPECT_EQ(ui.scene().setup.model.heads, 64);
  EXPECT_EQ(ui.snapshot().config.heads, 64);
  EXPECT_EQ(ui.names("head.").size(), 64u);
  std::set<Index> reached;
  for (int i = 0; i <= 20; ++i) {
    ui.dragTo("heads", static_cast<float>(i) / 20);
    const app::ModelSetup& model = ui.scene().setup.model;
    reached.insert(model.heads);
    // 32 planted heads on each of two kv heads don't fit into the 4 dimensions that 256 leave for each.
    EXPECT_EQ(model.modelDim, model.heads == 64 ? 448 : 256);
    EXPECT_EQ(model.heads * model.headDim, model.modelDim);
    EXPECT_EQ(model.kvHeads, std::min<Index>(model.heads, 2)) << "the kv heads stay those chosen";
    EXPECT_EQ(ui.snapshot().config.headDim, model.headDim);
  }
  EXPECT_EQ(reached, (std::set<Index>{1, 2, 4, 8, 16, 32, 64}));
}

TEST(Sliders, SayWhyDivisorsAreLeftOut) {
  UiDriver ui;
  ui.click("kind.mha").typeValue("heads", "64");
  ASSERT_EQ(ui.scene().setup.model.kvHeads, 64) << "MHA stays MHA";
  app::uiState().watches = true;
  const auto reason = [&] {
    std::string all;  // a tooltip breaks its lines
    for (const app::DrawnText& text : app::uiState().texts) all += text.text + " ";
    return all.find("share keys of 4 dimensions") != std::string::npos;
  };
  ui.hover("kv_heads.track").frames(2);
  EXPECT_TRUE(reason());
  ui.hover("heads.track").frames(2);
  EXPECT_FALSE(reason()) << "nothing is left out there";
}

TEST(Sliders, KvHeadsTakeOnlyDivisorsOfTheHeads) {
  UiDriver ui;
  ui.click("weights.random").typeValue("model_dim", "240").typeValue("heads", "12");
  ASSERT_EQ(ui.scene().setup.model.heads, 12);
  std::set<Index> reached;
  for (int i = 0; i <= 20; ++i) {
    ui.dragTo("kv_heads", static_cast<float>(i) / 20);
    reached.insert(ui.scene().setup.model.kvHeads);
    EXPECT_EQ(ui.snapshot().config.kvHeads, ui.scene().setup.model.kvHeads);
  }
  EXPECT_EQ(reached, (std::set<Index>{1, 2, 3, 4, 6, 12}));
}

TEST(Sliders, ModelDimKeepsHeadsAndIntegerHeadDim) {
  UiDriver ui;
  ui.click("weights.random").typeValue("heads", "8");
  for (int i = 0; i <= 10; ++i) {
    // The upper end computes thousands of dimensions; its limit is checked once below.
    ui.dragTo("model_dim", 0.3f + static_cast<float>(i) / 32);
    const app::ModelSetup& model = ui.scene().setup.model;
    EXPECT_EQ(model.heads, 8);
    EXPECT_EQ(model.headDim * model.heads, model.modelDim);
    EXPECT_EQ(ui.snapshot().config.modelDim, model.modelDim);
  }
  ui.dragTo("model_dim", -1);
  EXPECT_EQ(ui.scene().setup.model.modelDim, 1);
  EXPECT_EQ(ui.scene().setup.model.heads, 1) << "eight heads can't share one dimension";
  ui.dragTo("model_dim", 2);
  EXPECT_EQ(ui.scene().setup.model.modelDim, 4096);
  EXPECT_EQ(ui.scene().setup.model.heads, 8);
  EXPECT_FALSE(ui.snapshot().error.has_value());
}

TEST(Sliders, HeadDimMovesOnlyWhenUnlinked) {
  UiDriver ui;
  ui.click("weights.random");  // planted weights need some dimensions
  const Scene before = ui.scene();
  ui.dragTo("head_dim", 0.9f);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << "linked, it follows the model dim";
  ui.click("linked").dragTo("head_dim", -0.2f);
  EXPECT_EQ(ui.scene().setup.model.headDim, 1);
  ui.dragTo("head_dim", 1.2f);
  EXPECT_EQ(ui.scene().setup.model.headDim, 512);
  EXPECT_EQ(ui.scene().setup.model.modelDim, 256);
  EXPECT_EQ(ui.scene().setup.model.heads, 8);
  EXPECT_EQ(ui.snapshot().config.headDim, 512);
  ui.typeValue("head_dim", "17");
  EXPECT_EQ(ui.snapshot().config.headDim, 17);
}

TEST(Sliders, RopeKeepsHeadDimEven) {
  UiDriver ui;
  ui.click("weights.random").click("position.rope");
  for (int i = 0; i <= 10; ++i) {
    ui.dragTo("heads", static_cast<float>(i) / 10);
    EXPECT_EQ(ui.scene().setup.model.headDim % 2, 0);
    EXPECT_FALSE(ui.snapshot().error.has_value());
  }
  ui.typeValue("heads", "8").click("linked");
  for (int i = 0; i <= 10; ++i) {
    ui.dragTo("head_dim", static_cast<float>(i) / 10);
    EXPECT_EQ(ui.scene().setup.model.headDim % 2, 0);
  }
  const Scene before = ui.scene();
  ui.typeValue("head_dim", "33");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_EQ(ui.view().controls.refusal.control, "head_dim");
}

TEST(Sliders, RefusesIllegalTypedValuesWithAReason) {
  UiDriver ui;
  const Scene before = ui.scene();
  const app::Snapshot* snapshot = ui.session().snapshot();
  ui.typeValue("heads", "7");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_EQ(ui.session().snapshot(), snapshot) << "nothing is computed for a refused value";
  EXPECT_EQ(ui.view().controls.refusal.control, "heads");
  EXPECT_THAT(ui.view().controls.refusal.reason, HasSubstr("256"));
  EXPECT_THAT(ui.view().controls.refusal.reason, HasSubstr("7 heads"));
  ui.typeValue("kv_heads", "3");
  EXPECT_EQ(ui.view().controls.refusal.control, "kv_heads");
  EXPECT_THAT(ui.view().controls.refusal.reason, HasSubstr("divisor"));
  for (const char* text : {"0", "65", "-8", "eight", "", "8.5", "99999999999999999999"}) {
    ui.typeValue("heads", text);
    EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << text;
    EXPECT_EQ(ui.view().controls.refusal.control, "heads") << text;
  }
  ui.typeValue("heads", "16");
  EXPECT_EQ(ui.scene().setup.model.heads, 16);
  EXPECT_EQ(ui.view().controls.refusal.control, "") << "a legal value takes the refusal away";
}

TEST(Sliders, RefusalsAppearBelowTheirSlider) {
  UiDriver ui;
  const ImRect next = ui.find("kv_heads");
  ui.typeValue("heads", "7");
  const ImRect refusal = ui.find("refusal.heads");
  EXPECT_NEAR(refusal.Min.y, ui.find("heads").Max.y, 5);
  EXPECT_EQ(ui.find("kv_heads").Min.y, next.Min.y) << "nothing moves under the pointer";
}

TEST(Sliders, WheelAndArrowKeysStepTheHoveredSlider) {
  UiDriver ui;
  ui.turn("heads", 1);
  EXPECT_EQ(ui.scene().setup.model.heads, 16);
  ui.turn("heads", -2);
  EXPECT_EQ(ui.scene().setup.model.heads, 4);
  ui.hover("heads").key(Key::right);
  EXPECT_EQ(ui.scene().setup.model.heads, 8);
  ui.key(Key::left).key(Key::down);
  EXPECT_EQ(ui.scene().setup.model.heads, 2);
  ui.key(Key::up);
  EXPECT_EQ(ui.scene().setup.model.heads, 4);
  ui.turn("heads", -10);
  EXPECT_EQ(ui.scene().setup.model.heads, 1) << "the lower end holds";
  ui.park().key(Key::right);
  EXPECT_EQ(ui.scene().setup.model.heads, 1) << "only the slider under the pointer listens";
}

TEST(Sliders, WheelOnASliderDoesNotScrollThePanel) {
  UiDriver ui;
  const float before = ui.find("heads").Min.y;
  ui.turn("heads", -1);
  EXPECT_EQ(ui.find("heads").Min.y, before);
}

TEST(Sliders, WheelScrollsThePanelUntilTheSliderIsClicked) {
  UiDriver ui(1280, 720);
  const std::string before = ui.sceneText();
  const float top = ui.find("heads").Min.y;
  ui.wheel("heads", -1);
  EXPECT_EQ(ui.sceneText(), before);
  EXPECT_LT(ui.find("heads").Min.y, top);
  // A click on the knob changes nothing; from then on the wheel turns the slider.
  ui.dragTo("heads", 0.5f);
  const Index heads = ui.scene().setup.model.heads;
  ui.wheel("heads", -1);
  EXPECT_LT(ui.scene().setup.model.heads, heads);
  ui.park();
  const std::string left = ui.sceneText();
  ui.wheel("heads", -1);
  EXPECT_EQ(ui.sceneText(), left) << "the pointer had left it";
}

TEST(Panels, EachPageKeepsItsScrollPosition) {
  UiDriver ui(1280, 420);
  ui.find("weight_seed");  // far down, so this scrolls
  ui.key(static_cast<Key>('4')).draw();
  EXPECT_TRUE(ui.visible("map.source.scene")) << "the map's own panel stands at its top";
  ui.key(static_cast<Key>('1'));
  EXPECT_TRUE(ui.visible("weight_seed")) << "where it was left";
}

TEST(Sliders, SharpnessScalesTheScores) {
  UiDriver ui;
  const float score = ui.sequence().attention.scores.at(0, 5, 2);
  ui.dragTo("sharpness", -0.5f);
  EXPECT_FLOAT_EQ(ui.scene().setup.model.sharpness, 0.1f);
  ui.dragTo("sharpness", 1.5f);
  EXPECT_FLOAT_EQ(ui.scene().setup.model.sharpness, 10);
  // Planted heads have scores of a few tens, each a sum of as many products as a head has dimensions.
  EXPECT_NEAR(ui.sequence().attention.scores.at(0, 5, 2), 10 * score, 1e-3);
  const float ten = ui.scene().setup.model.sharpness;
  ui.turn("sharpness", -1);
  EXPECT_LT(ui.scene().setup.model.sharpness, ten);
  ui.typeValue("sharpness", "2.5");
  EXPECT_FLOAT_EQ(ui.scene().setup.model.sharpness, 2.5f);
  const Scene before = ui.scene();
  for (const char* text : {"-0.1", "101", "nan", "inf", "wide", "1e9", "-1"}) {
    ui.typeValue("sharpness", text);
    EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << text;
    EXPECT_EQ(ui.view().controls.refusal.control, "sharpness") << text;
  }
}

TEST(Sliders, SoftCapAndDropoutReachTheirEnds) {
  UiDriver ui;
  ASSERT_EQ(ui.snapshot().config.softcap, 0);
  ui.dragTo("softcap", 1.2f);
  EXPECT_FLOAT_EQ(ui.scene().setup.model.softcap, 1000);
  EXPECT_FLOAT_EQ(ui.snapshot().config.softcap, 1000);
  ui.dragTo("softcap", -0.2f);
  EXPECT_EQ(ui.scene().setup.model.softcap, 0);
  EXPECT_EQ(ui.snapshot().config.softcap, 0);
  ui.dragTo("dropout", 1.2f);
  EXPECT_FLOAT_EQ(ui.snapshot().config.dropout.probability, 0.95f);
  EXPECT_FALSE(ui.sequence().decode.applies) << "dropout differs from step to step";
  ui.dragTo("dropout", -0.2f);
  EXPECT_EQ(ui.snapshot().config.dropout.probability, 0);
  const Scene before = ui.scene();
  ui.typeValue("dropout", "1");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << "nothing would be left";
  EXPECT_EQ(ui.view().controls.refusal.control, "dropout");
}

TEST(Sliders, WindowAndSinksChangeTheMask) {
  UiDriver ui;
  const auto tokens = static_cast<Index>(ui.sequence().keys.size());
  const auto text = [&] { return attention::maskText(ui.scene().setup.mask.layers); };
  // The last query sees the sinks and its window.
  const auto seen = [&] {
    attention::KeyRuns runs;
    ui.sequence().mask.formula->visibleRuns(0, tokens - 1, runs);
    return runs;
  };
  ui.click("window").dragTo("window.window", -0.2f);
  EXPECT_EQ(text(), "causal & padding & window(1)");
  EXPECT_EQ(seen(), (attention::KeyRuns{{tokens - 1, tokens}}));
  ui.dragTo("window.window", 1.2f);
  EXPECT_EQ(text(), "causal & padding & window(" + std::to_string(tokens) + ")");
  EXPECT_EQ(seen(), (attention::KeyRuns{{0, tokens}}));
  ui.typeValue("window.window", "5");
  EXPECT_EQ(seen(), (attention::KeyRuns{{tokens - 5, tokens}}));
  ui.click("window").click("streaming").typeValue("streaming.window", "3");
  ui.dragTo("streaming.sinks", -0.2f);
  EXPECT_EQ(seen(), (attention::KeyRuns{{tokens - 3, tokens}}));
  ui.dragTo("streaming.sinks", 1.2f);
  EXPECT_EQ(seen(), (attention::KeyRuns{{0, tokens}}));
  ui.typeValue("streaming.sinks", "2");
  EXPECT_EQ(seen(), (attention::KeyRuns{{0, 2}, {tokens - 3, tokens}}));
  EXPECT_EQ(text(), "causal & padding & off: window(5) & streaming(sinks=2, window=3)");
}

TEST(Sliders, ScrollingThePanelStepsNoSlider) {
  UiDriver ui;
  const Scene before = ui.scene();
  // Over the label the wheel scrolls. Sliders then move under the pointer, and the wheel still scrolls.
  const ImRect heads = ui.find("heads");
  ui.moveTo(heads.Min.x + heads.GetWidth() * 0.6f, heads.Min.y - 6);
  for (int i = 0; i < 12; ++i) {
    app::InputEvent event;
    event.kind = app::InputEvent::Kind::wheel;
    event.y = -0.25f;
    ui.app().input().push(event);
    ui.frames(2);
  }
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

TEST(Sliders, SeedsChangeTheScores) {
  UiDriver ui;
  ui.click("weights.random");
  const float before = ui.sequence().attention.scores.at(0, 5, 2);
  ui.turn("weight_seed", 1);
  EXPECT_EQ(ui.scene().setup.weights.seed, 8u);
  const float weights = ui.sequence().attention.scores.at(0, 5, 2);
  EXPECT_NE(weights, before);
  ui.typeValue("text_seed", "12345");
  EXPECT_EQ(ui.scene().setup.input.seed, 12345u);
  EXPECT_NE(ui.sequence().attention.scores.at(0, 5, 2), weights);
  const Scene scene = ui.scene();
  ui.typeValue("weight_seed", "-1");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(scene));
  ui.dragTo("weight_seed", -0.5f);
  EXPECT_EQ(ui.scene().setup.weights.seed, 0u);
  ui.dragTo("weight_seed", 1.5f);
  EXPECT_EQ(ui.scene().setup.weights.seed, 99u);
}

TEST(Sliders, LeavingTheFieldOrEscapeDiscardsTyping) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.doubleClick("heads.value").chord(kCtrl, Key::a).type("16").clickAway();
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_EQ(ui.view().controls.typed.control, "");
  ui.doubleClick("heads.value").chord(kCtrl, Key::a).type("16").key(Key::escape);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_EQ(ui.view().controls.typed.control, "");
}

TEST(Sliders, ClickingTheLabelChangesNothing) {
  UiDriver ui;
  const Scene before = ui.scene();
  for (const char* name : {"heads", "kv_heads", "model_dim", "sharpness", "weight_seed"})
    ui.clickAt(name, 0.05f, 0.5f);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

}  // namespace
}  // namespace headscope::test
