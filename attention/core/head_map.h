#pragma once

#include <stop_token>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// The inputs of one head's weights, in O((n + m)·headDim) memory: enough to compute any part of them.
struct HeadField {
  AttentionConfig config;  ///< dropout is ignored
  Index head = 0;          ///< selects the biases and the mask
  Matrix q;                ///< [n, headDim], rotated under RoPE
  Matrix k;                ///< [m, headDim], rotated under RoPE
  MaskInput mask;          ///< over [heads, n, m]
};

enum class Pooling { max, mean };

/// Rows row … row+rows−1 and keys key … key+keys−1 of a head, factor × factor cells per pixel. The factor is
/// a power of two; row and key are multiples of it. The last pixels of the matrix may have fewer cells.
struct MapPart {
  Index row = 0, key = 0, rows = 0, keys = 0, factor = 1;
  bool operator==(const MapPart&) const = default;
};

/// One head's weights for sequences of any length, computed part by part at any zoom without holding all
/// n × m of them. A row's weights need its log-sum-exp over all keys, computed on first use and then kept.
///
/// Not thread-safe. Every call returns within a few milliseconds once `stop` is requested. The result is then
/// undefined, but the log-sum-exps of finished rows stay valid.
class HeadMap {
 public:
  /// Throws std::invalid_argument, naming the shapes, if q, k, config and mask don't fit together.
  explicit HeadMap(HeadField field);
  ~HeadMap();
  HeadMap(HeadMap&&) noexcept;
  HeadMap& operator=(HeadMap&&) noexcept;

  const HeadField& field() const;
  Index queries() const;
  Index keys() const;
  /// Returns the memory held, in bytes: q, k, a copy of k packed for the kernels, and the log-sum-exps.
  std::uint64_t bytes() const;

  /// Returns the exact pooled weights, [⌈rows/factor⌉, ⌈keys/factor⌉]; −inf if no cell of a pixel is visible.
  /// The mean is over all cells of the pixel inside the matrix; masked cells count as 0.
  Matrix weights(const MapPart& part, Pooling pooling, std::stop_token stop = {});
  /// Both poolings of the same part, computed in one pass.
  struct Pooled {
    Matrix max, mean;
  };
  Pooled pooled(const MapPart& part, std::stop_token stop = {});

  /// Returns the whole head pooled from a sample of its rows, using about `work` multiply-adds: a lower bound
  /// for max, an estimate for mean. Exact for factors below kernels::kSummaryFactor.
  Matrix preview(Index factor, Pooling pooling, double work, std::stop_token stop = {});
  /// Returns the step between the rows that a preview samples.
  Index previewStep(Index factor, double work) const;

  /// Whether all rows row … row+rows−1 are known to see no key.
  bool dead(Index row, Index rows) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the size of a HeadMap in bytes; saturates instead of overflowing.
std::uint64_t headMapBytes(Index queries, Index keys, Index headDim);

}  // namespace headscope::attention
