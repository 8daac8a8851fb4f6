#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "attention/core/attention.h"
#include "attention/core/mask.h"

namespace headscope::attention {

/// Statistics of the visible cells of one mask variant.
struct MaskStatistics {
  std::uint64_t visible = 0, cells = 0;  ///< in the counted rows
  Index rowsCounted = 0;  ///< all rows, or an even sample if counting all would exceed the budget
  bool sampled = false;   ///< if set, density and the lists below are those of the sample
  Index emptyRows = 0;    ///< rows that see no key
  Index unseenKeys = 0;   ///< keys that no row sees; −1 (unknown) if sampled
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

/// Counts visible cells from the rows' runs. Samples rows if there are more than about `budget` runs, but
/// never fewer than 256 rows. If stopped, returns the rows counted so far as a sample.
MaskStatistics measureMask(const MaskFormula& mask, Index variant, Index cacheLength,
                           std::uint64_t budget = std::uint64_t{1} << 26, std::stop_token stop = {});

/// The mask in blocks, as in FlexAttention: full blocks are computed without the mask, partial ones with it,
/// and empty ones are skipped. Blocks that extend beyond the mask are padded with masked cells, so they are
/// never full.
struct BlockMap {
  Index blockSize = 0, rows = 0, cols = 0;
  /// [rows, cols] visible cells of each block, saturating at 2³²−1
  std::vector<std::uint32_t> visible;
  std::vector<BlockKind> kinds;  ///< [rows, cols]
  Index full = 0, partial = 0, empty = 0;
  /// Returns the share of blocks that are computed, which is also the cost of the products Q·Kᵀ and weights·V
  /// relative to dense attention.
  double computedShare() const;
};
/// Returns the mask in blocks. Throws std::invalid_argument if blockSize < 1 or the map has more than 2²⁶
/// blocks. If stopped, the remaining blocks are none and not counted.
BlockMap mapBlocks(const MaskFormula& mask, Index variant, Index blockSize, std::stop_token stop = {});

/// Returns 4 · n · m · headDim · heads: both products over all cells, counting multiply and add separately.
double denseAttentionFlops(Index queries, Index keys, Index headDim, Index heads);

/// Which keys have reached which queries after some layers.
struct ReachMap {
  Index tokens = 0;
  /// [tokens, tokens]: the first layer after which key j has reached query i; 0 = not within `layers`.
  /// Without the residual, see reachAfter().
  std::vector<std::uint8_t> layer;
  Index layers = 0;
};
/// Computes Boolean powers of the mask M, the union over `variants` in each layer. With `residual`, a token
/// also keeps what it has (M ∪ I), and cells hold the first layer in which the key reaches the query;
/// without, cells hold `layers` where M^layers is visible and 0 elsewhere. Undefined if stopped. Throws
/// std::invalid_argument unless queries = keys, there are at most 2²⁸ cells, and layers is 1 to 255.
ReachMap reachAfter(const MaskFormula& mask, const std::vector<Index>& variants, Index layers, bool residual,
                    std::stop_token stop = {});

/// Returns a shortest path by which `query` gets information from `key`: positions from query to key, each
/// seeing the next; {query, key} if it sees the key directly; empty if there is none within `layers` steps.
/// Throws std::invalid_argument unless queries = keys and both positions exist.
std::vector<Index> shortestPath(const MaskFormula& mask, const std::vector<Index>& variants, Index query,
                                Index key, Index layers);

/// Returns the first pair {query, key} in which a token sees a later one; empty if there is none. If no
/// single step leads to a later token, no number of layers does, so nothing leaks. Throws
/// std::invalid_argument unless queries = keys.
std::vector<Index> shortestLeak(const MaskFormula& mask, const std::vector<Index>& variants);

/// The effect of mask B compared with mask A on the same heads, [heads, queries] each.
struct MaskComparison {
  Matrix movedMass;  ///< ½ Σⱼ |w_A − w_B|: the share of a row's weight that moves to other keys; if only one
                     ///< of the rows sees no key, ½ of the other's weight
  Matrix entropyChange;  ///< entropy of B's row minus that of A's, nats
  Matrix outputChange;  ///< ‖o_A − o_B‖ / ‖o_A‖ of the head's output; 0 if both are 0, ∞ if only o_A is
};

/// The results under one mask: weights [heads, queries, keys] before dropout, and head outputs
/// [heads, queries, headDim].
struct MaskedHeads {
  MaskedHeads(const Stack& weights_, const Stack& outputs_) : weights(weights_), outputs(outputs_) {}
  MaskedHeads(const AttentionResult& result) : MaskedHeads(result.weights, result.headOutput) {}
  const Stack& weights;
  const Stack& outputs;
};

/// Compares two masks. Throws std::invalid_argument unless both have the same heads, queries and keys.
MaskComparison compareMasks(const MaskedHeads& a, const MaskedHeads& b);

}  // namespace headscope::attention
