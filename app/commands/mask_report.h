#pragma once

#include <string>

#include "attention/masks/compile.h"

namespace headscope::app {

/// Everything `headscope mask` prints about a mask: its text, omitted layers, and for every group of heads
/// with the same mask (only `head`'s if given) formula, density, empty rows, unseen keys, future pairs and
/// blocks. If `cacheGiven` is false and queries and keys differ in number, also the first query's position.
std::string maskReport(const attention::MaskLayers& layers, const attention::MaskGeometry& geometry,
                       const attention::MaskFormula& mask, std::optional<attention::Index> head,
                       bool cacheGiven);

/// "size: 1 to 1073741824, default 128; keys that are seen".
std::string parameterText(const attention::ParameterInfo& parameter);

/// Lists all patterns with their formulas, parameters and limits.
std::string patternList();

}  // namespace headscope::app
