#pragma once

#include <string>
#include <vector>

#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"
#include "attention/formats/safetensors.h"

namespace headscope::app {

/// Returns everything computed from a scene, and its inputs, as a file that attend can read back: its arrays,
/// its inputs (x, context, projections, mask, attn_mask) and options. Under snapshot.*, it holds what attend
/// has no name for: the biases on the scores, the second mask and its arrays, the tokens, the scene, and, if
/// the scene decodes, the cursor's step and the cache there. Several lines get a leading batch axis.
/// `snapshot` must come from `scene` with the same `resources` and have sequences.
attention::Result<attention::SafetensorsFile> snapshotFile(const Scene& scene, const Snapshot& snapshot,
                                                           Resources& resources);

}  // namespace headscope::app
