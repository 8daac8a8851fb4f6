#pragma once

#include "app/scene/scene.h"
#include "attention/core/config.h"

namespace headscope::app {

/// Returns a Setup's settings of a layer's scores and weights. T5's buckets are those of a causal mask.
attention::ScoreSettings scoreSettings(const Setup& setup);

/// Returns the attention config of a Setup. Only T5's buckets depend on the mask; Snapshot::config makes them
/// bidirectional if the mask isn't causal.
attention::AttentionConfig configOf(const Setup& setup);

}  // namespace headscope::app
