#include "app/scene/mask_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/app/compute/layer/snapshot_support.h"

namespace headscope::app {
namespace {

using attention::Layer;
using attention::MaskLayers;
using attention::maskText;
using attention::PatternKind;
using test::layersFrom;

/// The expression after switching one of its rules on or off.
std::string switched(const char* expression, PatternKind kind, bool on) {
  MaskLayers layers = layersFrom(expression);
  setRule(layers, kind, on);
  return maskText(layers);
}

TEST(MaskRules, FindsEnabledPlainLayers) {
  const MaskLayers layers = layersFrom("causal & off: padding & window(3)");
  EXPECT_TRUE(hasRule(layers, PatternKind::causal));
  EXPECT_FALSE(hasRule(layers, PatternKind::padding)) << "there, but off";
  EXPECT_TRUE(hasRule(layers, PatternKind::window));
  EXPECT_FALSE(hasRule(layers, PatternKind::streaming));
  EXPECT_FALSE(hasRule({}, PatternKind::causal));
}

/// A switch for a rule must not touch a layer that does more than the rule.
TEST(MaskRules, IgnoresLayersBeyondThePlainRule) {
  for (const char* expression :
       {"heads(0): causal", "sequences(1): causal", "!causal", "full | causal", "full then causal",
        "!(causal & full)", "full & (causal | sinks(1))", "documents(causal)", "chunked(4)"}) {
    MaskLayers layers = layersFrom(expression);
    EXPECT_FALSE(hasRule(layers, PatternKind::causal)) << expression;
    EXPECT_EQ(plainLayer(layers, PatternKind::causal), nullptr) << expression;
    EXPECT_EQ(switched(expression, PatternKind::causal, false), expression);
  }
}

TEST(MaskRules, UsesTheFirstPlainLayer) {
  MaskLayers layers = layersFrom("heads(1): window(2) & window(3) & window(4)");
  EXPECT_EQ(plainLayer(layers, PatternKind::window), &layers[1]);
  // The first layer isn't joined to anything, so its way of joining doesn't matter.
  layers = layersFrom("causal & padding");
  layers[0].combine = attention::Combine::any;
  EXPECT_EQ(plainLayer(layers, PatternKind::causal), &layers[0]);
  layers = layersFrom("\"mine\": causal");
  EXPECT_EQ(plainLayer(layers, PatternKind::causal), &layers[0]) << "a name changes nothing";
}

TEST(MaskRules, SwitchingLayersKeepsTheirNumbers) {
  EXPECT_EQ(switched("causal & window(7)", PatternKind::window, false), "causal & off: window(7)");
  EXPECT_EQ(switched("causal & off: window(7)", PatternKind::window, true), "causal & window(7)");
  EXPECT_EQ(switched("causal", PatternKind::causal, true), "causal");
  EXPECT_EQ(switched("off: causal & causal", PatternKind::causal, true), "causal & causal");
}

TEST(MaskRules, AddsMissingLayersWithDefaultNumbers) {
  EXPECT_EQ(switched("", PatternKind::causal, true), "causal");
  EXPECT_EQ(switched("causal", PatternKind::window, true), "causal & window(4)");
  EXPECT_EQ(switched("causal", PatternKind::streaming, true), "causal & streaming(sinks=1, window=4)");
  EXPECT_EQ(switched("heads(0): causal", PatternKind::causal, true), "heads(0): causal & causal");
  EXPECT_EQ(switched("", PatternKind::padding, true), "padding") << "its length comes from the text";
  EXPECT_EQ(switched("full | sinks(1)", PatternKind::causal, true), "(full | sinks(1)) & causal")
      << "joined to all before it";
  EXPECT_EQ(switched("causal", PatternKind::padding, false), "causal") << "nothing to turn off";
}

TEST(MaskRules, BuildsSinglePatternLayers) {
  EXPECT_EQ(attention::layerText(layerOf(PatternKind::window)), "window(4)");
  EXPECT_EQ(attention::layerText(layerOf(PatternKind::streaming, {2})), "streaming(sinks=2, window=4)");
  EXPECT_EQ(attention::layerText(layerOf(PatternKind::streaming, {2, 9})), "streaming(sinks=2, window=9)");
  EXPECT_EQ(attention::layerText(layerOf(PatternKind::padding)), "padding");
}

TEST(MaskRules, WritesPlainRulesAsExpressions) {
  const auto text = [](const PlainRules& rules) { return maskText(layersOf(rules)); };
  EXPECT_EQ(text({}), "causal & padding");
  EXPECT_EQ(layersOf({}), openingMask());
  EXPECT_EQ(text({.causal = false, .padding = false}), "");
  EXPECT_EQ(text({.window = 5}), "causal & window(5) & padding");
  EXPECT_EQ(text({.window = 5, .sinks = 2}), "causal & streaming(sinks=2, window=5) & padding");
  EXPECT_EQ(text({.sinks = 2}), "causal & padding") << "sinks act with a window";
  EXPECT_EQ(text({.causal = false, .window = 5}), "window_both(5) & padding");
  EXPECT_EQ(text({.causal = false, .padding = false, .window = 5, .sinks = 2}), "window_both(5) | sinks(2)");
  EXPECT_EQ(text({.causal = false, .window = 5, .sinks = 2}), "(window_both(5) | sinks(2)) & padding");
}

/// The side panel's switches for the layers that layersOf makes.
TEST(MaskRules, SwitchesRecognisePlainRules) {
  for (const bool causal : {false, true})
    for (const bool padding : {false, true})
      for (const Index window : {0, 3}) {
        const MaskLayers layers = layersOf({.causal = causal, .padding = padding, .window = window});
        EXPECT_EQ(hasRule(layers, PatternKind::causal), causal);
        EXPECT_EQ(hasRule(layers, PatternKind::padding), padding);
        EXPECT_EQ(hasRule(layers, PatternKind::window), causal && window > 0);
        EXPECT_EQ(hasRule(layers, PatternKind::windowBoth), !causal && window > 0);
      }
}

}  // namespace
}  // namespace headscope::app
