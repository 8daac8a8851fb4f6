#pragma once

#include <memory>
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

  /// Whether each row is the one before it moved on by one key, as far as there are keys: a cell is decided
  /// by key − row alone. False is always safe to say.
  virtual bool dependsOnDistance(Index /*variant*/) const { return false; }

  bool visible(Index variant, Index row, Index key) const;
  /// What rows rowBegin … rowEnd−1 see of keys keyBegin … keyEnd−1, exactly; none for an empty block.
  BlockKind block(Index variant, Index rowBegin, Index rowEnd, Index keyBegin, Index keyEnd) const;
};

/// Rows firstRow … firstRow+rows−1 of a mask over its first `keys` keys: what a decode step sees of it.
std::shared_ptr<const MaskFormula> maskPart(std::shared_ptr<const MaskFormula> whole, Index firstRow,
                                            Index rows, Index keys);

/// Whether any row of any head sees a later position, the first row's being `cacheLength`: a mask for which
/// this is false is causal. Takes as long as asking every row once.
bool seesFuture(const MaskFormula& mask, Index cacheLength = 0);

/// What one sequence's queries may read, and what is added to their scores.
struct MaskInput {
  /// Over [heads, n, m]; null: every key is visible.
  std::shared_ptr<const MaskFormula> formula;
  /// Added to the scores, [1, n, m] for all heads or [heads, n, m]; −inf masks; empty for none.
  Stack additive;
};

/// Which slice of a stack of one matrix for all heads, or of one for each, belongs to `head`.
inline Index sliceOf(const Stack& stack, Index head) {
  return stack.count() == 1 ? 0 : head;
}

/// Whether query row `row` of head `head` sees key `j`, everything considered.
bool visible(const MaskInput& mask, Index head, Index row, Index j);

/// Throws std::invalid_argument unless the formula is over [heads, queries, keys] and the additive matrix is
/// [1 or heads, queries, keys].
void requireMaskShape(const AttentionConfig& config, const MaskInput& mask, Index queries, Index keys);

}  // namespace headscope::attention
