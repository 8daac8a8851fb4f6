#pragma once

#include <optional>

#include "app/scene/scene.h"
#include "attention/masks/plain_rules.h"

namespace headscope::app {

// The masks most people start from, as switches over a list of layers.

using attention::layerOf;
using attention::layersOf;
using attention::PlainRules;

/// The first layer that is `kind` and nothing else: joined by AND, for all heads and lines, not negated. On
/// or off.
const attention::Layer* plainLayer(const attention::MaskLayers& layers, attention::PatternKind kind);
bool hasRule(const attention::MaskLayers& layers, attention::PatternKind kind);
/// Turns the plain layer on or off; adds one where there is none to turn on.
void setRule(attention::MaskLayers& layers, attention::PatternKind kind, bool on);
/// What is customary, when attention goes over to another text or comes back: a plain causal layer is
/// switched off, and on again.
void followCross(Setup& setup);

/// A layer's name, or what its pattern is called.
std::string layerTitle(const attention::Layer& layer);

}  // namespace headscope::app
