#pragma once

#include <optional>

#include "app/scene/scene.h"

namespace headscope::app {

// The masks most people start from, as switches over a list of layers.

/// The first layer that is `kind` and nothing else: joined by AND, for all heads and lines, not negated. On
/// or off.
attention::Layer* plainLayer(attention::MaskLayers& layers, attention::PatternKind kind);
bool hasRule(const attention::MaskLayers& layers, attention::PatternKind kind);
/// Turns the plain layer on or off; adds one where there is none to turn on.
void setRule(attention::MaskLayers& layers, attention::PatternKind kind, bool on);

/// A layer of one pattern; `counts` stand for its first arguments.
attention::Layer layerOf(attention::PatternKind kind, const std::vector<Index>& counts = {});

/// What attention libraries call causal, key padding, sliding window and sinks, as layers in place of
/// `layers`. window counts keys (both ways without causal); 0 = none; sinks act with a window.
struct PlainRules {
  bool causal = true, padding = true;
  Index window = 0, sinks = 0;
};
attention::MaskLayers layersOf(const PlainRules& rules);

}  // namespace headscope::app
