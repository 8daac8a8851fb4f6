#pragma once

#include <span>
#include <vector>

#include "attention/heads/planted.h"

namespace headscope::attention {

/// How one kv head's dimensions are divided: [first flag | separator flag | sin, cos pairs | identity |
/// identity of the previous token].
struct Division {
  bool first = false, separator = false;
  std::vector<Index> frequencies;  ///< which of the layout's
  Index identity = 0;
  Index previous = 0;  ///< whole pairs

  Index positionsAt() const { return (first ? 1 : 0) + (separator ? 1 : 0); }
  Index identityAt() const { return positionsAt() + 2 * static_cast<Index>(frequencies.size()); }
  Index previousAt() const { return identityAt() + identity; }
  Index used() const { return previousAt() + previous; }
  /// Identity is drawn in pairs of equal length; half a pair would weigh some tokens more than others.
  Index wholeIdentity() const { return identity - identity % 2; }
};

/// Gives each part that `group` (the heads that share `kvHead`) reads its dimensions; what nobody needs goes
/// to identity. An error, naming the parts, where headDim cannot hold the least of each.
Result<Division> divide(const AttentionConfig& config, const EmbeddingLayout& layout,
                        std::span<const PlantedHead> group, Index kvHead);

}  // namespace headscope::attention
