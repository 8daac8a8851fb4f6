#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "attention/core/mask.h"

namespace headscope::attention {

/// What one variant of a mask leaves visible.
struct MaskStatistics {
  std::uint64_t visible = 0, cells = 0;  ///< of the rows that were counted
  Index rowsCounted = 0;  ///< all, or an even sample where counting all would take more than the budget
  bool sampled = false;   ///< then density and the lists below are of the sample
  Index emptyRows = 0;    ///< rows that see nothing
  Index unseenKeys = 0;   ///< keys that no row sees; not known (−1) when sampled
  std::vector<Index> firstEmptyRows, firstUnseenKeys;  ///< the first 64; rows counted from 0
  std::uint64_t future = 0;                            ///< visible pairs with j > i
  struct Pair {
    Index query = 0, key = 0;  ///< absolute positions
  };
  std::optional<Pair> firstFuture;
  double density() const {
    return cells == 0 ? 0 : static_cast<double>(visible) / static_cast<double>(cells);
  }
};

/// Counted from the rows' runs. `budget`: runs that may be looked at before rows are sampled (256 rows are
/// always looked at). Stopped, it tells of the rows counted by then, as of a sample.
MaskStatistics measureMask(const MaskFormula& mask, Index variant, Index cacheLength,
                           std::uint64_t budget = std::uint64_t{1} << 26, std::stop_token stop = {});

/// The mask in blocks as FlexAttention counts them: full blocks are computed without asking the mask, partial
/// ones with it, empty ones are skipped. Blocks that reach beyond the mask are filled up with masked cells,
/// and so are never full.
struct BlockMap {
  Index blockSize = 0, rows = 0, cols = 0;
  /// [rows, cols] visible cells of each block; at most 2³²−1, where a block has more
  std::vector<std::uint32_t> visible;
  std::vector<BlockKind> kinds;  ///< [rows, cols]
  Index full = 0, partial = 0, empty = 0;
  /// Share of the blocks that are computed; the products Q·Kᵀ and weights·V cost this share of dense.
  double computedShare() const;
};
/// blockSize ≥ 1. Throws std::invalid_argument where the map itself would
/// have more than 2²⁶ blocks. Stopped, the blocks not reached are none and not counted.
BlockMap mapBlocks(const MaskFormula& mask, Index variant, Index blockSize, std::stop_token stop = {});

/// 4 · n · m · headDim · heads: both products over all cells (multiply and add counted apart).
double denseAttentionFlops(Index queries, Index keys, Index headDim, Index heads);

/// Which earlier tokens can reach which after some layers.
struct ReachMap {
  Index tokens = 0;
  /// [tokens, tokens]: the first layer after which key j has reached query i; 0 = not within `layers`.
  std::vector<std::uint8_t> layer;
  Index layers = 0;
};
/// Boolean powers of the mask, the union over `variants` taken in each layer. With `residual` a token also
/// keeps what it has (M ∪ I), and cells hold the first layer that reaches; without, cells hold `layers` where
/// the plain power M^layers is visible and 0 elsewhere. Needs queries = keys (throws std::invalid_argument
/// otherwise) and at most 2²⁸ cells; layers 1 to 255. Stopped, what it holds is of no use.
ReachMap reachAfter(const MaskFormula& mask, const std::vector<Index>& variants, Index layers, bool residual,
                    std::stop_token stop = {});

/// A shortest way by which `query` learns of `key`: positions from query to key, each seeing the next; empty
/// if there is none within `layers` steps. {query, key} when it sees it directly. Square masks only.
std::vector<Index> shortestPath(const MaskFormula& mask, const std::vector<Index>& variants, Index query,
                                Index key, Index layers);

/// The shortest way by which any token learns of a later one, {query, key}: where no single step leads to a
/// later token no number of them does, so that nothing leaks, through any number of layers, if it is empty.
std::vector<Index> shortestLeak(const MaskFormula& mask, const std::vector<Index>& variants);

}  // namespace headscope::attention
