#pragma once

#include "app/scene/scene.h"
#include "attention/core/config.h"

namespace headscope::app {

/// What a Setup sets of a layer's scores and weights. T5's buckets are those of a causal mask.
attention::ScoreSettings scoreSettings(const Setup& setup);

/// The attention config a Setup stands for. Of the mask depend only T5's buckets, which Snapshot::config
/// has for both directions where it is not causal.
attention::AttentionConfig configOf(const Setup& setup);

}  // namespace headscope::app
