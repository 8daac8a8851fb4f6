// Toggles, segmented choices and lists: each changes only its own field of the scene.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "app/scene/mask_rules.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {
namespace {

using app::Cursor;
using app::EmbeddingSource;
using app::PositionKind;
using app::RangeMode;
using app::Scene;
using app::WeightSource;
using attention::Behaviour;
using attention::PlantedHead;
using attention::Tokenization;

/// Performs `act` and expects the scene to change by exactly what `change` does to it.
void expectOnly(UiDriver& ui, const std::string& what, const std::function<void()>& act,
                const std::function<void(Scene&)>& change) {
  Scene expected = ui.scene();
  change(expected);
  ASSERT_NE(UiDriver::textOf(expected), ui.sceneText()) << what << " was so already";
  act();
  ASSERT_FALSE(expected.cursor.keyChosen);
  expected.cursor.cell.key = ui.scene().cursor.cell.key;  // the largest weight, which the change may move
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(expected)) << what;
  EXPECT_TRUE(ui.scene() == expected) << what;
  EXPECT_TRUE(ui.snapshot().setup == expected.setup) << what << " was not computed";
}

TEST(Toggles, EachChangesItsOwnField) {
  UiDriver ui;
  const auto flips = [&](const std::string& name, bool& (*field)(Scene&)) {
    for (int twice = 0; twice < 2; ++twice)
      expectOnly(
          ui, name, [&] { ui.click(name); }, [&](Scene& scene) { field(scene) = !field(scene); });
  };
  flips("ignore_case", [](Scene& s) -> bool& { return s.setup.input.ignoreCase; });
  flips("linked", [](Scene& s) -> bool& { return s.setup.model.linked; });
  flips("scaled", [](Scene& s) -> bool& { return s.setup.model.scaled; });
  flips("bias", [](Scene& s) -> bool& { return s.setup.model.bias; });
  flips("causal", [](Scene& s) -> bool& { return s.setup.mask.layers.edit()[0].on; });
  // Without its own context, cross-attention would begin with a sample text.
  ui.session().scene().setup.input.contextText = "a b c d e f g h i j k l";
  ui.draw();
  // Cross-attention switches causality off; self-attention switches it on again.
  for (int twice = 0; twice < 2; ++twice)
    expectOnly(
        ui, "cross", [&] { ui.click("cross"); },
        [](Scene& s) {
          s.setup.mask.layers.edit()[0].on = s.setup.input.cross;
          s.setup.input.cross = !s.setup.input.cross;
        });
}

/// Switching on a missing rule adds it with its default numbers; switching it off keeps it and its numbers.
TEST(Toggles, MaskRulesAreAddedAndSwitchedOff) {
  UiDriver ui;
  const std::size_t before = ui.scene().setup.mask.layers.size();
  std::size_t at = before;
  for (const auto& [name, text] :
       {std::pair("window", "window(4)"), {"streaming", "streaming(sinks=1, window=4)"}}) {
    expectOnly(
        ui, name, [&, name = name] { ui.click(name); },
        [text = text](Scene& s) {
          s.setup.mask.layers.edit().push_back(attention::parseMask(text).layers[0]);
        });
    for (int twice = 0; twice < 2; ++twice)
      expectOnly(
          ui, name, [&, name = name] { ui.click(name); },
          [at](Scene& s) { s.setup.mask.layers.edit()[at].on = !s.setup.mask.layers[at].on; });
    ++at;
  }
  EXPECT_EQ(attention::maskText(ui.scene().setup.mask.layers),
            "causal & padding & window(4) & streaming(sinks=1, window=4)");
}

/// A layer that isn't a plain rule has its own switch, and the rules' switches leave it alone.
TEST(Toggles, OtherMaskLayersHaveSwitches) {
  UiDriver ui;
  ui.session().scene().setup.mask.layers =
      attention::parseMask("heads(even): causal & chunked(3) & !window(2) & causal").layers;
  ui.draw();
  for (int layer = 0; layer < 3; ++layer)
    for (int twice = 0; twice < 2; ++twice)
      expectOnly(
          ui, "layer." + std::to_string(layer), [&] { ui.click("layer." + std::to_string(layer)); },
          [&](Scene& s) { s.setup.mask.layers.edit()[static_cast<std::size_t>(layer)].on ^= true; });
  EXPECT_FALSE(ui.has("layer.3")) << "that one is the plain causal rule";
  expectOnly(
      ui, "causal", [&] { ui.click("causal"); }, [](Scene& s) { s.setup.mask.layers.edit()[3].on = false; });
}

TEST(Toggles, PaddingNeedsARaggedBatch) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.click("padding");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  ui.replaceText("text", "one two three\nfour");
  expectOnly(
      ui, "padding", [&] { ui.click("padding"); },
      [](Scene& s) { s.setup.mask.layers.edit()[1].on = false; });
}

TEST(Choices, EachChangesItsOwnField) {
  UiDriver ui;
  const auto picks = [&](const std::string& name, const std::function<void(Scene&)>& change) {
    expectOnly(
        ui, name, [&] { ui.click(name); }, change);
  };
  picks("tokenization.bytes", [](Scene& s) { s.setup.input.tokenization = Tokenization::bytes; });
  picks("tokenization.characters", [](Scene& s) { s.setup.input.tokenization = Tokenization::characters; });
  picks("tokenization.words", [](Scene& s) { s.setup.input.tokenization = Tokenization::words; });
  picks("position.none", [](Scene& s) { s.setup.model.position = PositionKind::none; });
  picks("position.rope", [](Scene& s) { s.setup.model.position = PositionKind::rope; });
  picks("position.alibi", [](Scene& s) { s.setup.model.position = PositionKind::alibi; });
  picks("position.t5", [](Scene& s) { s.setup.model.position = PositionKind::t5; });
  picks("position.sinusoidal", [](Scene& s) { s.setup.model.position = PositionKind::sinusoidal; });
  picks("kind.mha", [](Scene& s) { s.setup.model.kvHeads = 8; });
  picks("kind.mqa", [](Scene& s) { s.setup.model.kvHeads = 1; });
  picks("kind.gqa", [](Scene& s) { s.setup.model.kvHeads = app::kvHeadsFor(app::AttentionKind::gqa, 8); });
  picks("weights.random", [](Scene& s) { s.setup.weights.source = WeightSource::random; });
  picks("weights.planted", [](Scene& s) { s.setup.weights.source = WeightSource::planted; });
}

TEST(Choices, ReselectingChangesNothing) {
  UiDriver ui;
  const Scene before = ui.scene();
  for (const char* name :
       {"tokenization.words", "position.sinusoidal", "kind.gqa", "weights.planted", "embedding.text"})
    ui.click(name);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
  EXPECT_FALSE(ui.session().document().canUndo());
}

TEST(Lists, EachPlantedBehaviourIsSetOnItsHead) {
  UiDriver ui;
  const std::vector<std::pair<const char*, PlantedHead>> behaviours{
      {"self", {Behaviour::offset, 0}},          {"next", {Behaviour::offset, -1}},
      {"back2", {Behaviour::offset, 2}},         {"back3", {Behaviour::offset, 3}},
      {"back4", {Behaviour::offset, 4}},         {"first_token", {Behaviour::firstToken, 1}},
      {"same_token", {Behaviour::sameToken, 1}}, {"local_band", {Behaviour::localBand, 1}},
      {"separator", {Behaviour::separator, 1}},  {"uniform", {Behaviour::uniform, 1}},
      {"random", {Behaviour::random, 1}},        {"induction", {Behaviour::induction, 1}},
      {"previous", {Behaviour::offset, 1}}};
  for (const auto& behaviour : behaviours)
    expectOnly(
        ui, behaviour.first, [&] { ui.choose("plant.0", behaviour.first); },
        [&](Scene& s) { s.setup.weights.planted[0] = behaviour.second; });
}

TEST(Lists, LastHeadCanBePlanted) {
  UiDriver ui;
  expectOnly(
      ui, "plant.7", [&] { ui.choose("plant.7", "uniform"); },
      [&](Scene& s) {
        s.setup.weights.planted[7] = {Behaviour::uniform, 1};
      });
}

TEST(Lists, PlantingAHeadChangesItsWeights) {
  UiDriver ui;
  ui.choose("plant.0", "first_token");
  const auto weights = ui.sequence().attention.weights[0];
  EXPECT_GT(weights(9, 0), 0.5f);
  ui.choose("plant.0", "self");
  EXPECT_GT(ui.sequence().attention.weights[0](9, 9), 0.5f);
}

TEST(Lists, ColormapRangeAndQuantityChangeOnlyTheLook) {
  UiDriver ui;
  for (const render::Colormap map :
       {render::Colormap::magma, render::Colormap::greys, render::Colormap::viridis})
    expectOnly(
        ui, "colormap", [&] { ui.choose("colormap", std::string(render::name(map))); },
        [&](Scene& s) { s.look.colormap = map; });
  expectOnly(
      ui, "per head", [&] { ui.choose("range", "per_head"); },
      [](Scene& s) { s.look.range = RangeMode::perHead; });
  expectOnly(
      ui, "shared", [&] { ui.choose("range", "shared"); },
      [](Scene& s) { s.look.range = RangeMode::shared; });
  expectOnly(
      ui, "log", [&] { ui.choose("range", "logarithmic"); },
      [](Scene& s) { s.look.range = RangeMode::logarithmic; });
  expectOnly(
      ui, "scores", [&] { ui.choose("quantity", "scores"); },
      [](Scene& s) {
        s.look.quantity = app::Quantity::scores;
        s.look.range = RangeMode::shared;  // scores have no fixed range
      });
  expectOnly(
      ui, "score colours", [&] { ui.choose("colormap", "magma"); },
      [](Scene& s) { s.look.scoreColormap = render::Colormap::magma; });
}

TEST(Lists, CacheTypeSetsBytesPerValue) {
  UiDriver ui(1920, 1080);
  for (const auto& [name, bytes] : {std::pair("1", 1), std::pair("4", 4), std::pair("2", 2)})
    expectOnly(
        ui, name, [&, name = name] { ui.choose("cache_type", name); },
        [bytes = bytes](Scene& s) { s.look.cacheBytes = bytes; });
}

TEST(Lists, ClickOutsideClosesListWithoutAChoice) {
  UiDriver ui;
  const Scene before = ui.scene();
  ui.click("range");
  ASSERT_TRUE(ui.has("range.shared"));
  ui.moveTo(800, 880).press().release();
  EXPECT_FALSE(ui.has("range.shared"));
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

/// Expects that a click does nothing and that hovering over the control shows a reason next to it.
void expectDisabled(UiDriver& ui, const std::string& name) {
  const Scene before = ui.scene();
  const app::Snapshot* snapshot = ui.session().snapshot();
  ui.click(name);
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before)) << name;
  EXPECT_EQ(ui.session().snapshot(), snapshot) << name;
  EXPECT_EQ(ui.dialog(), "") << name;
  const render::Image pointed = ui.screenshot();
  const ImRect at = ui.find(name);
  ui.park();
  // The reason is in a box next to the pointer, so far more changes than the control itself.
  const int inside = pixelsApart(pointed, ui.screenshot(), at);
  EXPECT_GT(pixelsApart(pointed, ui.screenshot()) - inside, 500) << name << " gives no reason";
}

TEST(Disabled, ControlsDoNothingAndShowTheReason) {
  UiDriver ui;
  expectDisabled(ui, "padding");
  expectDisabled(ui, "head_dim");
  ui.typeValue("heads", "1");
  expectDisabled(ui, "kind.gqa");
  expectDisabled(ui, "kv_heads");
}

TEST(Disabled, LinkingNeedsADivisibleModelDim) {
  UiDriver ui;
  ui.click("weights.random").click("linked").typeValue("heads", "7");
  ASSERT_EQ(ui.scene().setup.model.heads, 7);
  expectDisabled(ui, "linked");
  ui.typeValue("heads", "4").click("linked");
  EXPECT_TRUE(ui.scene().setup.model.linked);
  EXPECT_EQ(ui.scene().setup.model.headDim, 64);
}

TEST(Disabled, OddHeadDimDisablesRope) {
  UiDriver ui;
  ui.click("weights.random").click("linked").typeValue("head_dim", "17");
  expectDisabled(ui, "position.rope");
}

TEST(Cross, CausalityIsOffByDefault) {
  UiDriver ui;
  ui.click("cross").click("context").type("u v w").clickAway();
  EXPECT_TRUE(ui.sequence().mask.formula->visible(0, 0, 2));
  ui.click("causal");
  EXPECT_FALSE(ui.sequence().mask.formula->visible(0, 0, 2)) << "positions decide";
  EXPECT_TRUE(ui.sequence().mask.formula->visible(0, 2, 2));
}

TEST(Disabled, CrossAttentionDisablesTableAndDecoding) {
  UiDriver ui;
  ui.click("cross").click("context").type("hello there").clickAway();
  expectDisabled(ui, "embedding.table");
  expectDisabled(ui, "decode.forward");
}

TEST(Disabled, ScoresDisableTheFixedRange) {
  UiDriver ui;
  ui.choose("quantity", "scores");
  const Scene before = ui.scene();
  ui.click("range").click("range.unit");
  EXPECT_EQ(ui.sceneText(), UiDriver::textOf(before));
}

}  // namespace
}  // namespace headscope::test
