#pragma once

#include <optional>

#include "app/scene/scene.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

// The most common masks, as switches over a list of layers.

using attention::layerOf;
using attention::layersOf;
using attention::PlainRules;

/// The first layer that is just `kind`, on or off: combined by AND, for all heads and lines, not negated.
/// Null if there is none.
const attention::Layer* plainLayer(const attention::MaskLayers& layers, attention::PatternKind kind);
bool hasRule(const attention::MaskLayers& layers, attention::PatternKind kind);
/// Turns the plain layer on or off. Adds one if it is to be on and there is none.
void setRule(attention::MaskLayers& layers, attention::PatternKind kind, bool on);
/// Applies the usual mask after cross-attention was turned on or off: a plain causal layer is off with
/// cross-attention and on without it.
void followCross(Setup& setup);

/// A layer's name, or the title of its pattern.
std::string layerTitle(const attention::Layer& layer);

}  // namespace headscope::app
