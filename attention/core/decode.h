#pragma once

#include <stop_token>

#include "attention/core/attention.h"
#include "attention/kernels/decode.h"

namespace headscope::attention {

/// Number format of a cache: IEEE single, IEEE half, or the upper half of a single (bfloat16).
using kernels::CacheType;

/// Returns the bytes per cached number.
Index cacheTypeBytes(CacheType type);

/// The cached keys and values of all kv heads: [kvHeads, length, headDim], with `headStride` numbers from
/// one kv head to the next.
struct CacheView {
  CacheType type = CacheType::f32;
  const void* keys = nullptr;
  const void* values = nullptr;
  Index length = 0;
  Index headStride = 0;
};

/// Runs one decode step: result.q [heads, 1, headDim] attends to the whole cache. Computes the same as
/// attendHeads(), in one pass that reads each key and value once for all heads of a group (Dao et al. 2023,
/// "Flash-Decoding"). Fills lse, headOutput and, depending on `keep`, scores and weights. Ignores dropout.
/// Returns false, with the outputs undefined, if the cache or the query has NaN or infinity, which
/// attendHeads() handles, or once `stop` is requested.
/// Throws std::invalid_argument, naming both shapes, if sizes don't fit.
bool decodeHeads(const AttentionConfig& config, const MaskInput& mask, const CacheView& cache, Keep keep,
                 AttentionResult& result, const std::stop_token& stop = {});

}  // namespace headscope::attention
