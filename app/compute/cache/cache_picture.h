#pragma once

#include <stop_token>

#include "app/compute/layer/snapshot.h"
#include "attention/cache/number_format.h"

namespace headscope::app {

/// Pools values [rows, cols] over blocks of rowFactor × colFactor, keeping the value farthest from 0 with its
/// sign; of two opposite values, the positive one. NaN beats every value; the marks of absent cells
/// (render/heatmap.h) lose to every value.
attention::Matrix strongestOf(const Eigen::Ref<const attention::Matrix>& values, Index rowFactor,
                              Index colFactor);

/// The resolution of a cache's picture: how many dimensions and tokens share a pixel.
struct CacheGrain {
  Index dims = 1, tokens = 1;
  bool operator==(const CacheGrain&) const = default;
};
/// Returns the grain that keeps the picture of keys [m, headDim] within `maxRows` × `maxCols` pixels.
CacheGrain cacheGrain(const attention::AttentionResult& result, Index maxRows, Index maxCols);

/// Draws the cached keys and values as bands [2 · kvHeads, rows, cols]: K of kv head g in layer 2g, V in
/// 2g+1; rows start at the first dimension; columns are tokens. Each value is as stored in the cache, divided
/// by the largest |K| (or |V|): −1 to 1. If dimensions or tokens share a pixel, it shows the value farthest
/// from 0. The result is incomplete if `stop` is requested.
attention::Stack cachePicture(const attention::AttentionResult& result, CacheGrain grain,
                              attention::NumberFormat stored = attention::NumberFormat::fp32,
                              std::stop_token stop = {});

}  // namespace headscope::app
