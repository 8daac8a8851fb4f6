#include "app/widgets/pattern_sliders.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "app/widgets/controls.h"
#include "attention/masks/text_parts.h"

namespace headscope::app {

using attention::Argument;
using attention::Layer;
using attention::ParameterInfo;
using attention::ParameterKind;

std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result.front() >= 'a' && result.front() <= 'z') result.front() -= 32;
  return result;
}

namespace {

/// Values a slider stops at: every one while they are few, then coarser.
std::vector<Index> stopsFor(Index low, Index high, Index now) {
  std::vector<Index> stops;
  for (Index i = low; i <= high; i += i < 64 ? 1 : i < 256 ? 8 : 32) stops.push_back(i);
  if (stops.empty() || stops.back() < high) stops.push_back(high);
  if (const auto at = std::lower_bound(stops.begin(), stops.end(), now); at == stops.end() || *at != now)
    stops.insert(at, now);
  return stops;
}

/// One slider, or one for each value of a list.
void countSlider(const ParameterInfo& parameter, std::optional<Argument>& argument, const std::string& name,
                 const MaskedText& text, View& view) {
  const Index high = std::clamp<Index>(text.longest, parameter.low + 1, parameter.high);
  if (!argument) {
    Index value =
        text.geometry && parameter.fromText ? parameter.fromText->count(*text.geometry) : parameter.low;
    SliderSpec spec{name, capitalized(parameter.name), "", "from the text until moved"};
    if (!text.geometry) spec.shown = "text";
    if (slider(view, spec, stopsFor(parameter.low, high, value), value)) argument = Argument{{value}, ""};
    return;
  }
  const bool list = argument->values.size() > 1;
  for (std::size_t i = 0; i < argument->values.size(); ++i) {
    const std::string limits = fmt::format("{} to {}: {}", parameter.low, high, parameter.meaning);
    slider(view,
           {list ? fmt::format("{}.{}", name, i) : name,
            list ? fmt::format("Head {}", i) : capitalized(parameter.name), "", limits},
           stopsFor(parameter.low, high, argument->values[i]), argument->values[i]);
  }
}

bool isCount(const ParameterInfo& parameter) {
  return parameter.kind == ParameterKind::count;
}

}  // namespace

void parameterSliders(Layer& layer, const std::string& name, const MaskedText& text, View& view) {
  if (layer.isGroup()) {
    for (std::size_t i = 0; i < layer.group.size(); ++i) {
      Layer& inner = layer.group[i];
      if (!inner.isGroup()) hint(view, layerTitle(inner));
      parameterSliders(inner, fmt::format("{}.{}", name, i), text, view);
    }
    return;
  }
  const auto parameters = attention::infoOf(layer.pattern.kind).parameters;
  layer.pattern.arguments.resize(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (isCount(parameters[i]))
      countSlider(parameters[i], layer.pattern.arguments[i], name + "." + std::string(parameters[i].name),
                  text, view);
}

}  // namespace headscope::app
