#pragma once

#include <stop_token>

#include "app/compute/layer/snapshot.h"
#include "attention/cache/number_format.h"

namespace headscope::app {

/// Of values [rows, cols] the one furthest from 0 of each block of rowFactor × colFactor, with its sign. NaN
/// goes before all, and marks of cells that aren't there (render/heatmap.h) give way to any value.
attention::Matrix strongestOf(const Eigen::Ref<const attention::Matrix>& values, Index rowFactor,
                              Index colFactor);

/// How coarsely a cache is drawn: dimensions and tokens that share a pixel.
struct CacheGrain {
  Index dims = 1, tokens = 1;
  bool operator==(const CacheGrain&) const = default;
};
/// What keeps the picture of keys [m, headDim] within so many pixels.
CacheGrain cacheGrain(const attention::AttentionResult& result, Index mostRows, Index mostCols);

/// The cached keys and values as bands: [2 · kvHeads, rows, cols], K of kv head g in layer 2g and V in 2g+1,
/// rows from the first dimension, a column a token. Each value as the cache stores it, over the largest |K|
/// (or |V|): −1 to 1. Where dimensions or tokens share a pixel, the strongest, with its sign. Incomplete once
/// `stop` is requested.
attention::Stack cachePicture(const attention::AttentionResult& result, CacheGrain grain,
                              attention::NumberFormat stored = attention::NumberFormat::fp32,
                              std::stop_token stop = {});

}  // namespace headscope::app
