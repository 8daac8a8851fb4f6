#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/cache/cache_picture.h"
#include "app/compute/layer/snapshot.h"
#include "attention/cache/number_format.h"

namespace headscope::app {

/// The cache to draw on the cache page, and its resolution.
struct FieldQuestion {
  std::shared_ptr<const Snapshot> snapshot;  ///< not null; has sequences
  Index sequence = 0;
  attention::NumberFormat stored = attention::NumberFormat::fp16;
  Index maxRows = 32;    ///< the most pixels of a band
  Index maxCols = 1024;  ///< the most pixels of all tokens
  bool operator==(const FieldQuestion&) const = default;
};

/// The cached keys and values, and what each decode step reads and computes.
struct CacheField {
  attention::Stack picture;  ///< from cachePicture()
  CacheGrain grain;

  // For each token, as if decoded alone; empty unless the snapshot is causal:
  std::vector<Index> read;            ///< cache entries it reads, over all kv heads
  std::vector<double> flops;          ///< operations with the cache: projections, scores, softmax, sum
  std::vector<double> uncachedFlops;  ///< without the cache: the sum for all tokens up to it
};

/// Pure. The result is incomplete if `stop` is requested.
CacheField makeCacheField(const FieldQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
