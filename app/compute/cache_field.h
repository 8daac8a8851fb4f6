#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/decode_proof.h"
#include "app/compute/snapshot.h"
#include "attention/cache/number_format.h"

namespace headscope::app {

/// Which cache the cache page draws, and how coarsely.
struct FieldQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< not null, and has sequences
  Index sequence = 0;
  attention::NumberFormat stored = attention::NumberFormat::fp16;
  Index mostRows = 32;    ///< pixels of a band
  Index mostCols = 1024;  ///< pixels of all tokens
  bool operator==(const FieldQuestion&) const = default;
};

/// Keys and values as the cache has them, and what each step of a decode reads and computes.
struct CacheField {
  /// [2 · kvHeads, rows, cols], K of kv head g in layer 2g and V in 2g+1, rows from the first dimension: each
  /// value over the largest |K| (or |V|), −1 to 1. Where dimensions or tokens share a pixel, the strongest.
  attention::Stack picture;
  Index rowFactor = 1, colFactor = 1;  ///< dimensions and tokens in a pixel

  // Of each token, as if each were decoded by itself:
  std::vector<Index> read;           ///< entries that it reads, of all kv heads together
  std::vector<double> flops;         ///< operations with the cache: projections, scores, softmax, sum
  std::vector<double> flopsWithout;  ///< the same of all tokens up to it: without the cache

  DecodeProof proof;  ///< by the caller: it takes what the snapshot was made of
};

/// Pure. Incomplete once `stop` is requested.
CacheField makeCacheField(const FieldQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
