#pragma once

#include "app/pages/common/page.h"

namespace headscope::app {

/// A short description of the layer: "GQA 8/2 · d 256 · causal". `causal`: no query sees a later key.
std::string layerShape(const Scene& scene, bool causal);

/// Why the layer has no picture, as a sentence. `snapshot` may be null.
std::optional<std::string> layerError(const Snapshot* snapshot);

/// Clears the parts of `hover` that no longer exist. `snapshot` must have sequences.
void fitHover(Crosshair& hover, const Scene& scene, const Snapshot& snapshot);

/// The status line of a page that shows the scene's layer.
PageStatus layerStatus(const PageServices& services, const Scene& scene);

}  // namespace headscope::app
