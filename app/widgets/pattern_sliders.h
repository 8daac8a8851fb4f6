#pragma once

#include <string>

#include "app/scene/mask_rules.h"
#include "app/widgets/view.h"
#include "attention/masks/compile.h"

namespace headscope::app {

/// "prefix" → "Prefix".
std::string capitalized(std::string_view text);

/// What a mask is laid over, for the sliders of its patterns.
struct MaskedText {
  Index longest = 64;  ///< tokens along the longer side: no window has to reach farther
  const attention::MaskGeometry* geometry = nullptr;  ///< where a parameter that is read from the text starts
};

/// Sliders for the counts of a layer's pattern, named "NAME.PARAMETER".
void parameterSliders(attention::Layer& layer, const std::string& name, const MaskedText& text, View& view);
/// The same for one of a list, which is edited only where a slider was moved.
void parameterSliders(SharedLayers& layers, std::size_t at, const std::string& name, const MaskedText& text,
                      View& view);

/// A rule's switch, and its sliders while it is on: "NAME" and "NAME.PARAMETER". Where it can't be switched,
/// `reason` says why.
void ruleSwitch(SharedLayers& layers, attention::PatternKind rule, const std::string& name,
                const std::string& label, const MaskedText& text, View& view, const std::string& reason = "");

}  // namespace headscope::app
