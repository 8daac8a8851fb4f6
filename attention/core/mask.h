#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Keys begin … end−1.
struct KeyRun {
  Index begin = 0, end = 0;
  bool operator==(const KeyRun&) const = default;
};
/// Ascending; none is empty, no two overlap or touch. A row of any mask is one of these, and most masks
/// people use have one to three runs a row whatever its length.
using KeyRuns = std::vector<KeyRun>;

enum class BlockKind { none, mixed, all };

/// A mask that is asked row by row or block by block instead of being held as queries × keys cells.
/// Thread-safe: asking changes nothing.
class MaskFormula {
 public:
  virtual ~MaskFormula() = default;
  virtual Index heads() const = 0;
  virtual Index queries() const = 0;
  virtual Index keys() const = 0;
  /// Heads of one variant have the same mask. Variants are numbered from 0.
  virtual Index variants() const = 0;
  virtual Index variantOf(Index head) const = 0;
  /// The keys that query row `row` (from 0, not a position) sees, written over `runs`.
  virtual void visibleRuns(Index variant, Index row, KeyRuns& runs) const = 0;

  bool visible(Index variant, Index row, Index key) const;
  /// What rows rowBegin … rowEnd−1 see of keys keyBegin … keyEnd−1, exactly; none for an empty block.
  BlockKind block(Index variant, Index rowBegin, Index rowEnd, Index keyBegin, Index keyEnd) const;
};

/// Rows firstRow … firstRow+rows−1 of a mask over its first `keys` keys: what a decode step sees of it.
std::shared_ptr<const MaskFormula> maskPart(std::shared_ptr<const MaskFormula> whole, Index firstRow,
                                            Index rows, Index keys);

/// Masks beyond the config's formula, for one sequence. Each stack is empty, or [1, n, m] for all
/// heads, or [heads, n, m].
struct MaskInput {
  /// 1 = masked, 0 = visible (PyTorch's boolean attn_mask convention).
  Stack masked;
  /// Added to the scaled scores; −inf masks.
  Stack additive;
  /// Key j is visible where j < keyLength; all keys when empty.
  std::optional<Index> keyLength;
  /// Over [heads, n, m]; null = nothing more is masked.
  std::shared_ptr<const MaskFormula> formula;
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
