#pragma once

#include "attention/core/config.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Keys begin … end−1.
struct KeyRun {
  Index begin = 0, end = 0;
  bool operator==(const KeyRun&) const = default;
};
/// The visible keys of one row: ascending, none empty, no two overlapping or touching. Most masks in use have
/// one to three runs per row, whatever its length.
using KeyRuns = std::vector<KeyRun>;

enum class BlockKind { none, mixed, all };

/// A mask that is evaluated by row or block instead of being stored as queries × keys cells. Thread-safe.
class MaskFormula {
 public:
  virtual ~MaskFormula() = default;
  virtual Index heads() const = 0;
  virtual Index queries() const = 0;
  virtual Index keys() const = 0;
  /// Heads of the same variant share a mask. Variants are numbered from 0.
  virtual Index variants() const = 0;
  virtual Index variantOf(Index head) const = 0;
  /// Replaces `runs` with the keys that query row `row` (from 0, not a position) sees.
  virtual void visibleRuns(Index variant, Index row, KeyRuns& runs) const = 0;

  /// Whether a cell depends only on key − row, so that each row is the previous one shifted by one key.
  /// Returning false is always safe.
  virtual bool dependsOnDistance(Index /*variant*/) const { return false; }

  bool visible(Index variant, Index row, Index key) const;
  /// Returns whether rows rowBegin … rowEnd−1 see none, some or all of keys keyBegin … keyEnd−1. Exact; none
  /// for an empty block.
  BlockKind block(Index variant, Index rowBegin, Index rowEnd, Index keyBegin, Index keyEnd) const;
};

/// Returns rows firstRow … firstRow+rows−1 of a mask over its first `keys` keys, as for a decode step. Throws
/// std::invalid_argument if they don't lie in the mask.
std::shared_ptr<const MaskFormula> maskPart(std::shared_ptr<const MaskFormula> whole, Index firstRow,
                                            Index rows, Index keys);

/// Whether any row of any head sees a later position; the first row has position `cacheLength`. If false,
/// the mask is causal. Evaluates every row up to the first that does.
bool seesFuture(const MaskFormula& mask, Index cacheLength = 0);

/// The mask of one sequence: which keys its queries may see, and what is added to their scores.
struct MaskInput {
  /// Over [heads, n, m]; null = every key is visible.
  std::shared_ptr<const MaskFormula> formula;
  /// Added to the scores, [1, n, m] for all heads or [heads, n, m]; −inf masks; empty = none.
  Stack additive;
};

/// Returns the slice for `head` in a stack that has one matrix for all heads or one per head.
inline Index sliceOf(const Stack& stack, Index head) {
  return stack.count() == 1 ? 0 : head;
}

/// Whether query row `row` of head `head` sees key `j`, given both the formula and the additive matrix.
bool visible(const MaskInput& mask, Index head, Index row, Index j);

/// Throws std::invalid_argument unless the formula is over [heads, queries, keys] and the additive matrix is
/// [1 or heads, queries, keys].
void requireMaskShape(const AttentionConfig& config, const MaskInput& mask, Index queries, Index keys);

}  // namespace headscope::attention
