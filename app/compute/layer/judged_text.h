#pragma once

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// Returns one line's text as detectors see it: its real tokens, divided by the marks on it, or else into
/// sentences. `sequence` provides the tokens.
attention::HeadText judgedText(const Setup& setup, const SequenceSnapshot& sequence, Index line);

}  // namespace headscope::app
