#pragma once

#include <string>

#include "attention/masks/compile.h"

namespace headscope::app {

/// Everything `headscope mask` says about a mask: its text, what is left out, and for every group of heads
/// with the same mask (of `head` alone where one is chosen) formula, density, empty rows, unseen keys, future
/// pairs and blocks. Where the first query stands is said if it was not given.
std::string maskReport(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                       const attention::MaskFormula& mask, std::optional<attention::Index> head,
                       bool cacheGiven);

/// "size: 1 to 1073741824, 128 if left out; keys that are seen".
std::string parameterText(const attention::ParameterInfo& parameter);

/// All patterns with their formulas, parameters and limits.
std::string patternList();

}  // namespace headscope::app
