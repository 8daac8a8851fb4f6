#pragma once

#include <span>
#include <vector>

#include "attention/heads/planted.h"

namespace headscope::attention {

/// The division of one kv head's dimensions: [first flag | separator flag | sin, cos pairs | identity |
/// identity of the previous token].
struct Division {
  bool first = false, separator = false;
  std::vector<Index> frequencies;  ///< indices into the layout's frequencies
  Index identity = 0;
  Index previous = 0;  ///< even

  Index positionsAt() const { return (first ? 1 : 0) + (separator ? 1 : 0); }
  Index identityAt() const { return positionsAt() + 2 * static_cast<Index>(frequencies.size()); }
  Index previousAt() const { return identityAt() + identity; }
  Index used() const { return previousAt() + previous; }
  /// Identity is drawn in pairs of equal length; half a pair would favour some tokens.
  Index wholeIdentity() const { return identity - identity % 2; }
};

/// Assigns dimensions to each part that `group` (the heads sharing `kvHead`) reads; unused ones go to
/// identity. Returns an Error naming the parts if headDim is too small for the minimum of each.
Result<Division> divide(const AttentionConfig& config, const EmbeddingLayout& layout,
                        std::span<const PlantedHead> group, Index kvHead);

}  // namespace headscope::attention
