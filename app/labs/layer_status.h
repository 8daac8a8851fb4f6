#pragma once

#include "app/labs/lab.h"

namespace headscope::app {

/// "GQA 8/2 · d 256 · causal": the layer in a few words. `snapshot` may be null.
std::string layerShape(const Scene& scene, const Snapshot* snapshot);

/// What the status line says of the layer the scene stands for.
LabStatus layerStatus(const LabServices& services, const Scene& scene);

}  // namespace headscope::app
