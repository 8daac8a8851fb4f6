#include "attention/masks/plain_rules.h"

namespace headscope::attention {

Layer layerOf(PatternKind kind, const std::vector<Index>& counts) {
  Layer layer;
  layer.pattern = defaultUse(kind);
  for (std::size_t i = 0; i < counts.size(); ++i) layer.pattern.arguments[i] = Argument{{counts[i]}, ""};
  return layer;
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

std::shared_ptr<const MaskFormula> compileRules(PlainRules rules, const MaskGeometry& geometry,
                                                const std::vector<std::shared_ptr<const CellTable>>& cells) {
  // Larger values have the same effect, but patterns don't accept them.
  rules.window = std::min(rules.window, geometry.cacheLength + geometry.queries + geometry.keys);
  rules.sinks = std::min(rules.sinks, geometry.keys);
  MaskLayers layers = layersOf(rules);
  MaskSources sources;
  for (const auto& table : cells) {
    if (!table) continue;
    const std::string name = std::to_string(sources.paintings.size());
    layers.push_back(layerOf(PatternKind::painted));
    layers.back().pattern.arguments[0] = Argument{{}, name};
    sources.paintings[name] = table;
  }
  if (layers.empty()) return nullptr;
  auto mask = compileMask(layers, geometry, sources);
  require(mask.ok(), mask ? "" : mask.error().message);
  return *std::move(mask);
}

}  // namespace headscope::attention
