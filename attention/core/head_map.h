#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// What the weights of one head are made of: enough for any part of them, at a size of O(n·headDim).
struct HeadField {
  AttentionConfig config;  ///< dropout is left out
  Index head = 0;          ///< whose biases and mask
  Matrix q;                ///< [n, headDim], rotated under RoPE
  Matrix k;                ///< [m, headDim], rotated under RoPE
  MaskInput mask;          ///< over [heads, n, m]
};

enum class Pooling { max, mean };

/// Rows row … row+rows−1 and keys key … key+keys−1 of a head, factor × factor cells to a pixel. Row and key
/// are multiples of the factor, which is a power of two; the last pixels of the matrix may have fewer cells.
struct MapPart {
  Index row = 0, key = 0, rows = 0, keys = 0, factor = 1;
  bool operator==(const MapPart&) const = default;
};

/// One head's weights at any length, part by part and at any zoom, without ever holding n × m of them.
/// Weights of a row need its log-sum-exp over all keys, which is computed when first asked for and kept.
///
/// One thread at a time. Every call returns early once `stop` is requested, within a few milliseconds; what
/// it returns then is to be dropped, what it keeps (finished rows' log-sum-exp) is right.
class HeadMap {
 public:
  /// Throws std::invalid_argument, naming the shapes, where q, k, config and mask don't fit.
  explicit HeadMap(HeadField field);
  ~HeadMap();
  HeadMap(HeadMap&&) noexcept;
  HeadMap& operator=(HeadMap&&) noexcept;

  const HeadField& field() const;
  Index queries() const;
  Index keys() const;
  /// Memory held: q, k, k once more in the order the kernels read it, log-sum-exp.
  std::uint64_t bytes() const;

  /// Pooled weights, [⌈rows/factor⌉, ⌈keys/factor⌉]; −inf where no cell of a pixel is visible. The mean is
  /// over all cells of the pixel that lie in the matrix, masked ones as 0. Exact.
  Matrix weights(const MapPart& part, Pooling pooling, std::stop_token stop = {});
  /// Both poolings of the same part in one pass.
  struct Pooled {
    Matrix max, mean;
  };
  Pooled pooled(const MapPart& part, std::stop_token stop = {});

  /// The whole head as weights() would pool it, from a sample of its rows, about `work` multiply-adds' worth:
  /// a lower bound for max, an estimate for mean.
  Matrix preview(Index factor, Pooling pooling, double work, std::stop_token stop = {});
  /// One row in so many is looked at in a preview.
  Index previewStep(Index factor, double work) const;

  /// Log-sum-exp of one row's scores if it is known; NaN before. −inf: the row sees no key.
  float logSumExp(Index row) const;
  /// Whether every row of row … row+rows−1 is known to see no key.
  bool dead(Index row, Index rows) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Bytes a HeadMap of these sizes holds; saturates instead of overflowing.
std::uint64_t headMapBytes(Index queries, Index keys, Index headDim);

}  // namespace headscope::attention
