#pragma once

#include <string>
#include <vector>

#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"
#include "attention/formats/safetensors.h"

namespace headscope::app {

/// Everything computed from a scene and what it was computed from, as a file that attend reads again: its
/// arrays, its inputs (x, context, projections, mask, attn_mask) and options, and under snapshot.* what
/// attend has no name for: the biases on the scores, the second mask and its arrays, the tokens, the scene,
/// and where the scene decodes the step its cursor is at and the cache there. A leading batch axis where
/// there are several lines. `snapshot` was computed from `scene` with the same `resources`; it has sequences.
attention::Result<attention::SafetensorsFile> snapshotFile(const Scene& scene, const Snapshot& snapshot,
                                                           Resources& resources);

}  // namespace headscope::app
