#pragma once

#include "app/pages/common/page.h"

namespace headscope::app {

/// "GQA 8/2 · d 256 · causal": the layer in a few words. `causal`: nothing sees its future.
std::string layerShape(const Scene& scene, bool causal);

/// Why the layer has no picture, in a sentence. `snapshot` may be null.
std::optional<std::string> layerError(const Snapshot* snapshot);

/// What was pointed at and is not there any more isn't pointed at. `snapshot` has sequences.
void fitHover(Crosshair& hover, const Scene& scene, const Snapshot& snapshot);

/// What the status line says of the layer the scene stands for.
PageStatus layerStatus(const PageServices& services, const Scene& scene);

}  // namespace headscope::app
