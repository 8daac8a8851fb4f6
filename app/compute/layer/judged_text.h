#pragma once

#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// The text under the heads of one line, as detectors see it: its real tokens, in the parts that are marked
/// on it or else in its sentences. `sequence` has the tokens.
attention::HeadText judgedText(const Setup& setup, const SequenceSnapshot& sequence, Index line);

}  // namespace headscope::app
