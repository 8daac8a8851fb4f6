#include "app/widgets/field_controls.h"

#include <fmt/core.h>

#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "attention/masks/patterns/definition.h"

namespace headscope::app {

namespace {

/// Formats a number as on screen; files have no thousands separators.
std::string fieldNumber(double value) {
  const bool whole = value == std::floor(value) && value >= 1000 && value < 1e7;
  return whole ? countText(static_cast<std::uint64_t>(value)) : shownNumber(shortNumber(value));
}

std::string legalText(const Field& field) {
  const auto* range = std::get_if<Range>(&field.values);
  if (!range || range->step != 1) return valuesText(field);  // these have no negative values
  return fieldNumber(range->low) + " to " + fieldNumber(range->high) +
         (*range->unit ? std::string(" ") + range->unit : "");
}

/// Returns all whole numbers on the track, or steps of 0.5 % if there are too many to tell apart.
std::vector<Index> everyStop(const Track& track) {
  const auto low = static_cast<Index>(track.low), high = static_cast<Index>(track.high);
  const bool many = high - low > kMaxMapTokens;
  std::vector<Index> stops;
  for (Index stop = low; stop < high;
       stop = many ? std::max(stop + 1, static_cast<Index>(static_cast<double>(stop) * 1.005)) : stop + 1)
    stops.push_back(stop);
  stops.push_back(high);
  return stops;
}

bool wholeSlider(View& view, const Field& field, const SliderState& state, Index& value) {
  const auto refuse = [&](Index wanted) -> std::string {
    if (!allows(field, static_cast<double>(wanted)))
      return fieldNumber(static_cast<double>(wanted)) + " is out of range: expected " + legalText(field) +
             ".";
    return state.refuse ? state.refuse(wanted) : "";
  };
  const std::vector<Index> every = state.stops.empty() ? everyStop(trackOf(field)) : std::vector<Index>{};
  return slider(view, sliderSpec(field, state), state.stops.empty() ? every : state.stops, value, refuse);
}

/// A seed is any whole number from 0, but sliders use signed integers.
bool seedSlider(View& view, const Field& field, SliderState state, std::uint64_t& seed) {
  state.refuse = [](Index wanted) { return wanted >= 0 ? "" : "A seed is a whole number from 0."; };
  auto value = static_cast<Index>(seed);
  if (!wholeSlider(view, field, state, value)) return false;
  seed = static_cast<std::uint64_t>(value);
  return true;
}

}  // namespace

SliderSpec sliderSpec(const Field& field, const SliderState& state) {
  const auto& control = std::get<Slider>(field.control);
  SliderSpec spec{control.name, control.label, state.disabledReason, state.limits, field.help};
  spec.shown = state.shown;
  spec.limitedBy = state.limitedBy;
  const Track track = trackOf(field);
  if (track.scale == Scale::logarithmic) spec.track = track;
  if (!spec.limits.empty()) return spec;
  const auto* range = std::get_if<Range>(&field.values);
  spec.limits = fieldNumber(track.low) + " to " + (*control.upTo ? control.upTo : fieldNumber(track.high));
  if (!range)
    spec.limits += ", or type any";
  else if (track.low != range->low || (track.high != range->high && !*control.upTo))
    spec.limits += ", or type " + legalText(field);
  return spec;
}

bool fieldSlider(View& view, Scene& scene, std::string_view path, const SliderState& state) {
  const Field& field = fieldAt(path);
  if (const auto* member = std::get_if<Member<Index>>(&field.access))
    return wholeSlider(view, field, state, member->edit(scene));
  if (const auto* member = std::get_if<Member<std::uint64_t>>(&field.access))
    return seedSlider(view, field, state, member->edit(scene));
  return slider(view, sliderSpec(field, state), std::get<Range>(field.values), trackOf(field),
                std::get<Member<float>>(field.access).edit(scene));
}

void sectionSliders(View& view, Scene& scene, std::string_view section) {
  for (const Field& field : allFields())
    if (const auto* control = std::get_if<Slider>(&field.control); control && section == control->section)
      fieldSlider(view, scene, field.path);
}

bool fieldToggle(View& view, Scene& scene, std::string_view path, const std::string& disabledReason) {
  const Field& field = fieldAt(path);
  const auto& control = std::get<Toggle>(field.control);
  return toggle(view, control.name, control.label, std::get<Member<bool>>(field.access).edit(scene),
                disabledReason, field.help);
}

std::vector<Choice> choicesOf(const Field& field, const std::vector<std::string>& disabledReasons) {
  const auto& labels = std::get<Selection>(field.control).labels;
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < labels.size(); ++i)
    choices.push_back(
        {std::string(labels[i]), i < disabledReasons.size() ? disabledReasons[i] : "", choiceName(field, i)});
  return choices;
}

std::string chosenLabel(std::string_view path, const Scene& scene) {
  const Field& field = fieldAt(path);
  return choicesOf(field)[static_cast<std::size_t>(chosenIn(field, scene))].label;
}

bool fieldChoice(View& view, Scene& scene, std::string_view path,
                 const std::vector<std::string>& disabledReasons, float width) {
  const Field& field = fieldAt(path);
  const auto& control = std::get<Selection>(field.control);
  const std::vector<Choice> choices = choicesOf(field, disabledReasons);
  int chosen = chosenIn(field, scene);
  const bool changed = control.list ? dropdown(view, control.name, choices, chosen, width, field.help)
                                    : segmented(view, control.name, choices, chosen, field.help);
  if (changed) choose(field, scene, chosen);
  return changed;
}

using attention::Argument;
using attention::Layer;
using attention::ParameterInfo;
using attention::ParameterKind;

namespace {

/// Returns the slider's stops: every value while they are few, then coarser.
std::vector<Index> stopsFor(Index low, Index high, Index step, Index now) {
  std::vector<Index> stops;
  high -= (high - low) % step;
  for (Index i = low; i <= high; i += step * (i < 64 ? 1 : i < 256 ? 8 : 32)) stops.push_back(i);
  if (stops.empty() || stops.back() < high) stops.push_back(high);
  if (const auto at = std::lower_bound(stops.begin(), stops.end(), now); at == stops.end() || *at != now)
    stops.insert(at, now);
  return stops;
}

/// Returns the most that another parameter allows for value `i` of `parameter`; nothing if none limits it.
std::optional<Index> mostOf(const ParameterInfo& parameter, const attention::PatternUse& use, std::size_t i,
                            std::size_t count) {
  const std::size_t other = attention::infoOf(use.kind).indexOf(parameter.notAbove);
  if (other >= use.arguments.size() || !use.arguments[other] || use.arguments[other]->values.empty())
    return std::nullopt;
  const auto& values = use.arguments[other]->values;
  // Lists of different lengths are combined in every way, so the smallest value counts.
  return values.size() == count ? values[i] : *std::min_element(values.begin(), values.end());
}

/// Shows one slider, or one for each value of a list. Returns whether one was moved.
bool countSlider(const ParameterInfo& parameter, std::size_t at, attention::PatternUse& use,
                 const std::string& name, const MaskedText& text, View& view) {
  std::optional<Argument>& argument = use.arguments[at];
  const Index high = std::clamp<Index>(text.longest, parameter.low + 1, parameter.high);
  if (!argument) {
    Index value =
        text.geometry && parameter.fromText ? parameter.fromText->count(*text.geometry) : parameter.low;
    SliderSpec spec{name, capitalized(parameter.name), "", "from the text until you move it"};
    if (!text.geometry) spec.shown = "text";
    if (!slider(view, spec, stopsFor(parameter.low, high, parameter.step, value), value)) return false;
    argument = Argument{{value}, ""};
    return true;
  }
  bool moved = false;
  const std::size_t count = argument->values.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Index most = std::min(high, mostOf(parameter, use, i, count).value_or(high));
    const std::string limits = fmt::format("{} to {}: {}", parameter.low, most, parameter.meaning);
    moved = slider(view,
                   {count > 1 ? fmt::format("{}.{}", name, i) : name,
                    count > 1 ? fmt::format("Head {}", i) : capitalized(parameter.name), "", limits},
                   stopsFor(parameter.low, most, parameter.step, argument->values[i]), argument->values[i]) ||
            moved;
  }
  return moved;
}

/// Lowers the parameters that must not exceed the one that was moved.
void followMoved(const ParameterInfo& moved, attention::PatternUse& use) {
  const auto parameters = attention::infoOf(use.kind).parameters;
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    if (parameters[at].notAbove != moved.name || !use.arguments[at]) continue;
    auto& values = use.arguments[at]->values;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::min(values[i], mostOf(parameters[at], use, i, values.size()).value_or(values[i]));
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
    if (isCount(parameters[i]) && countSlider(parameters[i], i, layer.pattern,
                                              name + "." + std::string(parameters[i].name), text, view))
      followMoved(parameters[i], layer.pattern);
}

void parameterSliders(SharedLayers& layers, std::size_t at, const std::string& name, const MaskedText& text,
                      View& view) {
  Layer layer = layers[at];
  parameterSliders(layer, name, text, view);
  if (layer != layers[at]) layers.edit()[at] = std::move(layer);
}

void ruleSwitch(SharedLayers& layers, attention::PatternKind rule, const std::string& name,
                const std::string& label, const MaskedText& text, View& view, const std::string& reason) {
  bool on = hasRule(layers, rule);
  if (toggle(view, name, label, on, reason)) setRule(layers.edit(), rule, on);
  if (const Layer* layer = plainLayer(layers, rule); layer && layer->on && reason.empty())
    parameterSliders(layers, static_cast<std::size_t>(layer - layers->data()), name, text, view);
}

}  // namespace headscope::app
