#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "attention/core/attention_result.h"
#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/projections.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Multi-head attention, softmax(Q·Kᵀ·scale + bias)·V, heads concatenated and mapped by W_O (Vaswani et al.
/// 2017, eq. 1; GQA: Ainslie et al. 2023), on all processors.
///
/// x [n, modelDim] gives the queries; context [m, modelDim] the keys and values (pass x for
/// self-attention). The query in row r has absolute position cacheLength + r. Returns within milliseconds
/// once `stop` is requested; the result is then undefined.
/// Throws std::invalid_argument, naming both shapes, if sizes don't fit.
AttentionResult attend(const AttentionConfig& config, const Projections& projections,
                       const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                       const MaskInput& mask, std::stop_token stop = {}, Keep keep = Keep::scores);

/// The first part of attend(): q, k and v, with q and k rotated if the config uses RoPE. All else is empty.
AttentionResult project(const AttentionConfig& config, const Projections& projections,
                        const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                        std::stop_token stop = {});
/// The rest of attend(), from the q, k and v that project() returned.
void attendProjected(const AttentionConfig& config, const Projections& projections, const MaskInput& mask,
                     AttentionResult& result, std::stop_token stop = {}, Keep keep = Keep::scores);

/// Fills scores, weights, lse and headOutput of `result` from its q, k and v. A masked key never affects
/// a row, even if the key or its value is NaN or infinite. Scores that a mask leaves visible are bitwise
/// the same as without it.
void attendHeads(const AttentionConfig& config, const MaskInput& mask, AttentionResult& result,
                 std::stop_token stop = {}, Keep keep = Keep::scores);
/// The same with keys and values stored elsewhere, one view [m, headDim] per kv head. Values may be
/// narrower, [m, ≤ headDim]; headOutput is as wide as the values.
void attendHeads(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
                 std::span<const MatrixView> values, AttentionResult& result, std::stop_token stop = {},
                 Keep keep = Keep::scores);

/// Returns the softmax of the scores, without dropout: [heads, n, m]. Incomplete once `stop` is requested.
Stack undroppedWeights(const AttentionConfig& config, const AttentionResult& result,
                       std::stop_token stop = {});

/// Returns the first `cols` columns of every slice.
Stack leftColumns(const Stack& stack, Index cols);
/// Splits y [n, count · headDim] into [count, n, headDim].
Stack splitHeads(const Eigen::Ref<const Matrix>& y, Index count);
/// The inverse: [count, n, headDim] to [n, count · headDim].
Matrix mergeHeads(const Stack& heads);

/// Returns the size of an AttentionResult in bytes; saturates instead of overflowing.
std::uint64_t attentionResultBytes(const AttentionConfig& config, Index queries, Index keys);

}  // namespace headscope::attention
