#pragma once

#include <span>
#include <vector>

#include "attention/models/tokenizer/aligned_text.h"

namespace headscope::attention {

/// What happens to the matches at which a piece of text is split.
enum class SplitBehaviour { removed, isolated, mergedWithPrevious, mergedWithNext, contiguous };

/// Splits the bytes `whole` at `matches` (relative to its beginning, from left to right, without overlap) and
/// adds the pieces that aren't empty to `pieces`. With `invert`, the text between matches counts as the
/// matches.
void splitRange(ByteRange whole, std::span<const ByteRange> matches, SplitBehaviour behaviour, bool invert,
                std::vector<ByteRange>& pieces);

}  // namespace headscope::attention
