#pragma once

#include <optional>

#include "attention/core/config.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Masks beyond the config's formula, for one sequence. Each stack is empty, or [1, n, m] for all
/// heads, or [heads, n, m].
struct MaskInput {
  /// 1 = masked, 0 = visible (PyTorch's boolean attn_mask convention).
  Stack masked;
  /// Added to the scaled scores; −inf masks.
  Stack additive;
  /// Key j is visible where j < keyLength; all keys when empty.
  std::optional<Index> keyLength;
};

/// Whether the config's own rules (causal, window, sinks) and the key length let the query at
/// absolute position `i` see key `j`. The dense masks are not asked.
bool visibleByRule(const AttentionConfig& config, std::optional<Index> keyLength, Index i, Index j);

/// The keys those rules let one query see: [0, sinkEnd) and [begin, end), with sinkEnd ≤ begin ≤ end.
struct VisibleKeys {
  Index sinkEnd = 0;
  Index begin = 0;
  Index end = 0;
  Index count() const { return sinkEnd + end - begin; }
  bool operator==(const VisibleKeys&) const = default;
};

/// visibleByRule for a whole row of `keys` keys at once.
VisibleKeys visibleKeys(const AttentionConfig& config, std::optional<Index> keyLength, Index i, Index keys);

/// Whether query row `row` of head `head` sees key `j`, everything considered.
bool visible(const AttentionConfig& config, const MaskInput& mask, Index head, Index row, Index j);

/// Throws std::invalid_argument unless every non-empty stack is [1 or heads, queries, keys] and
/// the key length lies in 0..keys.
void requireMaskShape(const AttentionConfig& config, const MaskInput& mask, Index queries, Index keys);

}  // namespace headscope::attention
