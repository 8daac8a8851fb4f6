#include "app/scene/mask_rules.h"

namespace headscope::app {

using attention::Combine;
using attention::Layer;
using attention::MaskLayers;
using attention::PatternKind;

const Layer* plainLayer(const MaskLayers& layers, PatternKind kind) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    const bool plain = !layer.isGroup() && layer.pattern.kind == kind && !layer.heads && !layer.sequences &&
                       !layer.negated && (i == 0 || layer.combine == Combine::all);
    if (plain) return &layer;
  }
  return nullptr;
}

bool hasRule(const MaskLayers& layers, PatternKind kind) {
  const Layer* layer = plainLayer(layers, kind);
  return layer && layer->on;
}

void setRule(MaskLayers& layers, PatternKind kind, bool on) {
  if (const Layer* layer = plainLayer(layers, kind))
    layers[static_cast<std::size_t>(layer - layers.data())].on = on;
  else if (on)
    layers.push_back(layerOf(kind));
}

std::string layerTitle(const Layer& layer) {
  if (!layer.name.empty()) return layer.name;
  const std::string not_ = layer.negated ? "Not " : "";
  if (layer.isGroup()) {
    std::string title;
    for (const Layer& inner : layer.group) {
      const char* word = inner.combine == Combine::all   ? " and "
                         : inner.combine == Combine::any ? " or "
                                                         : " then ";
      title += (title.empty() ? "" : word) + layerTitle(inner);
    }
    return not_ + title;
  }
  return not_ + std::string(attention::infoOf(layer.pattern.kind).title);
}

void followCross(Setup& setup) {
  if (plainLayer(setup.mask.layers, PatternKind::causal))
    setRule(setup.mask.layers.edit(), PatternKind::causal, !setup.input.cross);
}

}  // namespace headscope::app
