#pragma once

#include "app/scene/json_reader.h"
#include "app/scene/scene.h"

namespace headscope::app {

/// Layers as the text form of expressions, paintings as runs, marks as lists.
Json maskJson(const MaskSetup& mask);
void readMask(ObjectReader& in, MaskSetup& mask);
/// The mask of a version 1 scene, which knew causal, padding, one window and sinks.
void readFirstMask(ObjectReader& in, MaskSetup& mask);

}  // namespace headscope::app
