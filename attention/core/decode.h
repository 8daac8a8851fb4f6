#pragma once

#include <stop_token>

#include "attention/core/attention.h"
#include "attention/kernels/decode.h"

namespace headscope::attention {

/// How a cached number is kept: IEEE single, IEEE half, or the upper half of a single (bfloat16).
using kernels::CacheType;

/// Bytes of one cached number.
Index cacheTypeBytes(CacheType type);

/// Keys and values of all kv heads as a cache holds them: [kvHeads, length, headDim], each kv head
/// `headStride` numbers after the one before.
struct CacheView {
  CacheType type = CacheType::f32;
  const void* keys = nullptr;
  const void* values = nullptr;
  Index length = 0;
  Index headStride = 0;
};

/// One decode step: result.q [heads, 1, headDim] attends to everything cached. Fills scores and weights (as
/// `keep` says), lse and headOutput; what attendHeads would, in one pass over the cache that reads each key
/// and value once for all heads of a group (Dao et al. 2023, "Flash-Decoding"). Without dropout. False, with
/// the outputs undefined, where NaN or infinity stands in the cache or the query, which attendHeads handles,
/// or when `stop` is requested.
/// Throws std::invalid_argument, naming both shapes, where sizes don't fit.
bool decodeHeads(const AttentionConfig& config, const MaskInput& mask, const CacheView& cache, Keep keep,
                 AttentionResult& result, const std::stop_token& stop = {});

}  // namespace headscope::attention
