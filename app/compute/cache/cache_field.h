#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "app/compute/cache/cache_picture.h"
#include "app/compute/layer/snapshot.h"
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
  attention::Stack picture;  ///< as cachePicture makes it
  CacheGrain grain;

  // Of each token, as if each were decoded by itself:
  std::vector<Index> read;           ///< entries that it reads, of all kv heads together
  std::vector<double> flops;         ///< operations with the cache: projections, scores, softmax, sum
  std::vector<double> flopsWithout;  ///< the same of all tokens up to it: without the cache
};

/// Pure. Incomplete once `stop` is requested.
CacheField makeCacheField(const FieldQuestion& question, std::stop_token stop = {});

}  // namespace headscope::app
