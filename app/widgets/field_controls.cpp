#include "app/widgets/field_controls.h"

#include <cmath>

#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

/// Formats a number as on screen; files have no thousands separators.
std::string fieldNumber(double value) {
  const bool whole = value == std::floor(value) && value >= 1000 && value < 1e7;
  return whole ? countText(static_cast<std::uint64_t>(value)) : shortNumber(value);
}

std::string legalText(const Field& field) {
  const auto* range = std::get_if<Range>(&field.values);
  if (!range || range->step != 1) return valuesText(field);
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

}  // namespace headscope::app
