#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Which token of `other` each token of `text` goes with, −1 for none, ascending. Texts of one length, at
/// least half of whose tokens are equal, go together place by place. Else equal tokens do, as many as go in
/// order (their longest common subsequence), and what is between two such pairs where both have as much.
std::vector<Index> alignTokens(std::span<const Index> text, std::span<const Index> other);

}  // namespace headscope::attention
