#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/scene/fields.h"
#include "app/widgets/controls.h"

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

}  // namespace headscope::app
