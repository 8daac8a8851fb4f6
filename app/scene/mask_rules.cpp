#include "app/scene/mask_rules.h"

#include <algorithm>

namespace headscope::app {

using attention::Combine;
using attention::Layer;
using attention::MaskLayers;
using attention::PatternKind;

Layer layerOf(PatternKind kind, const std::vector<Index>& counts) {
  Layer layer;
  layer.pattern = attention::standardUse(kind);
  for (std::size_t i = 0; i < counts.size(); ++i)
    layer.pattern.arguments[i] = attention::Argument{{counts[i]}, ""};
  return layer;
}

Layer* plainLayer(MaskLayers& layers, PatternKind kind) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer& layer = layers[i];
    const bool plain = !layer.isGroup() && layer.pattern.kind == kind && !layer.heads && !layer.sequences &&
                       !layer.negated && (i == 0 || layer.combine == Combine::all);
    if (plain) return &layer;
  }
  return nullptr;
}

bool hasRule(const MaskLayers& layers, PatternKind kind) {
  // Looks only; the one search serves both.
  const Layer* layer = plainLayer(const_cast<MaskLayers&>(layers), kind);
  return layer && layer->on;
}

void setRule(MaskLayers& layers, PatternKind kind, bool on) {
  if (Layer* layer = plainLayer(layers, kind))
    layer->on = on;
  else if (on)
    layers.push_back(layerOf(kind));
}

MaskLayers layersOf(const PlainRules& rules) {
  MaskLayers layers;
  if (rules.causal) layers.push_back(layerOf(PatternKind::causal));
  if (rules.window > 0) {
    Layer window = rules.causal && rules.sinks > 0
                       ? layerOf(PatternKind::streaming, {rules.sinks, rules.window})
                   : rules.causal ? layerOf(PatternKind::window, {rules.window})
                                  : layerOf(PatternKind::windowBoth, {rules.window});
    if (!rules.causal && rules.sinks > 0) {
      Layer sinks = layerOf(PatternKind::sinks, {rules.sinks}), both;
      sinks.combine = Combine::any;
      both.group = {std::move(window), std::move(sinks)};
      window = std::move(both);
    }
    layers.push_back(std::move(window));
  }
  if (rules.padding) layers.push_back(layerOf(PatternKind::padding));
  return layers;
}

}  // namespace headscope::app
