#pragma once

#include "app/scene/mask_rules.h"
#include "app/widgets/controls.h"
#include "app/widgets/view.h"

namespace headscope::app {

// Controls for fields of the document. Label, range and help come from the field's row, looked up by path.
// Each returns whether it changed the scene.

/// Constraints on a slider that depend on the rest of the scene.
struct SliderState {
  std::string disabledReason = {};
  std::span<const Index> stops = {};              ///< legal whole numbers; empty = all on the track
  std::function<std::string(Index)> refuse = {};  ///< why a typed number in range isn't allowed, or ""
  std::string limits = {};                        ///< replaces the row's limits
  const char* shown = "";                         ///< replaces the value
  std::string limitedBy = {};                     ///< why values within the limits are left out, or ""
};
bool fieldSlider(View& view, Scene& scene, std::string_view path, const SliderState& state = {});
/// Shows the sliders of all fields in this section.
void sectionSliders(View& view, Scene& scene, std::string_view section);
bool fieldToggle(View& view, Scene& scene, std::string_view path, const std::string& disabledReason = "");
/// Shows buttons or a list of `width` (0 = as wide as needed), as the row says. `disabledReasons` has one
/// entry per choice.
bool fieldChoice(View& view, Scene& scene, std::string_view path,
                 const std::vector<std::string>& disabledReasons = {}, float width = 0);

// For controls that show something other than the field's own value.

SliderSpec sliderSpec(const Field& field, const SliderState& state = {});
std::vector<Choice> choicesOf(const Field& field, const std::vector<std::string>& disabledReasons = {});
/// The label of what is chosen.
std::string chosenLabel(std::string_view path, const Scene& scene);

/// The text that a mask applies to, for the sliders of its patterns.
struct MaskedText {
  Index longest = 64;  ///< tokens along the longer side, the most that a window needs to reach
  const attention::MaskGeometry* geometry = nullptr;  ///< source of initial values; may be null
};

/// Shows sliders for the counts of a layer's pattern, named "NAME.PARAMETER".
void parameterSliders(attention::Layer& layer, const std::string& name, const MaskedText& text, View& view);
/// The same for one layer of a list, which is edited only if a slider was moved.
void parameterSliders(SharedLayers& layers, std::size_t at, const std::string& name, const MaskedText& text,
                      View& view);

/// Shows a rule's switch "NAME" and, while it is on, its sliders "NAME.PARAMETER". If `reason` isn't empty,
/// the switch is disabled and shows it.
void ruleSwitch(SharedLayers& layers, attention::PatternKind rule, const std::string& name,
                const std::string& label, const MaskedText& text, View& view, const std::string& reason = "");

}  // namespace headscope::app
