#pragma once

#include <string>

#include "app/scene/mask_rules.h"
#include "app/widgets/view.h"
#include "attention/masks/compile.h"

namespace headscope::app {

/// "prefix" → "Prefix".
std::string capitalized(std::string_view text);

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
