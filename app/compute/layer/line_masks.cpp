#include "app/compute/layer/line_masks.h"

#include "app/compute/layer/mask_inputs.h"
#include "app/compute/layer/model_pass.h"
#include "app/scene/mask_rules.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

Result<std::vector<LineMasks>> compileMasks(const Setup& setup, const std::vector<LineTokens>& lines,
                                            InputCache& cache) {
  const Result<attention::MaskSources> sources = maskSources(setup, cache);
  if (!sources) return sources.error();
  std::vector<LineMasks> masks;
  for (const LineTokens& line : lines) {
    const attention::MaskGeometry geometry = geometryOf(setup, line, static_cast<Index>(masks.size()));
    const auto mask = attention::compileMask(layersInForce(setup, setup.mask.layers), geometry, *sources);
    if (!mask) return mask.error();
    auto additive = additiveOf(setup, geometry.queries, geometry.keys);
    if (!additive) return additive.error();
    masks.push_back({*mask, nullptr, *std::move(additive)});
    if (!setup.mask.compare) continue;
    const auto other = attention::compileMask(layersInForce(setup, setup.mask.other), geometry, *sources);
    if (!other) return Error{"Mask B: " + other.error().message};
    masks.back().other = *other;
  }
  return masks;
}

std::vector<std::string> futureHiders(const Setup& setup, const LineTokens& line, InputCache& cache) {
  std::vector<std::string> titles;
  const Result<attention::MaskSources> sources = maskSources(setup, cache);
  // A model hides later tokens itself.
  if (!sources || setup.subject.opened || hasRule(setup.mask.layers, attention::PatternKind::causal))
    return titles;
  const attention::MaskGeometry geometry = geometryOf(setup, line, 0);
  for (const attention::Layer& layer : setup.mask.layers) {
    if (!layer.on) continue;
    const auto alone = attention::compileMask({layer}, geometry, *sources);
    if (alone.ok() && !seesFuture(**alone)) titles.push_back(layerTitle(layer));
  }
  return titles;
}

}  // namespace headscope::app
