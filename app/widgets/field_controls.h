#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "app/scene/fields.h"
#include "app/widgets/controls.h"

namespace headscope::app {

// Controls of the document's fields: label, range and help come from the field's row, named by its path. Each
// returns whether it changed the scene.

/// What the rest of the scene says about a slider at the moment.
struct SliderState {
  std::string disabledReason = {};
  std::span<const Index> stops = {};              ///< legal whole numbers; empty: all of the track's
  std::function<std::string(Index)> refuse = {};  ///< why a typed number that is in range can't be, or ""
  std::string limits = {};                        ///< in place of the row's
  const char* shown = "";                         ///< in place of the value
};
bool fieldSlider(View& view, Scene& scene, std::string_view path, const SliderState& state = {});
/// The sliders of all fields that name this section as theirs.
void sectionSliders(View& view, Scene& scene, std::string_view section);
bool fieldToggle(View& view, Scene& scene, std::string_view path, const std::string& disabledReason = "");
/// Buttons or a list of `width` (0 = as wide as needed), as the row says. `disabledReasons`: one a choice.
bool fieldChoice(View& view, Scene& scene, std::string_view path,
                 const std::vector<std::string>& disabledReasons = {}, float width = 0);

// For controls that show something else than the field's own value.

SliderSpec sliderSpec(const Field& field, const SliderState& state = {});
std::vector<Choice> choicesOf(const Field& field, const std::vector<std::string>& disabledReasons = {});

}  // namespace headscope::app
