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
/// 2017, eq. 1; GQA: Ainslie et al. 2023), on all processors. textbook.h has the definition.
///
/// x [n, modelDim] gives the queries; context [m, modelDim] the keys and values (pass x for
/// self-attention). The query in row r has absolute position cacheLength + r. Returns within milliseconds
/// once `stop` is requested; the result is undefined then, and to be dropped.
/// Throws std::invalid_argument, naming both shapes, where sizes don't fit.
AttentionResult attend(const AttentionConfig& config, const Projections& projections,
                       const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                       const MaskInput& mask, std::stop_token stop = {}, Keep keep = Keep::scores);

/// The first part of attend(): q, k and v, rotated where the config says RoPE; all else stays empty.
AttentionResult project(const AttentionConfig& config, const Projections& projections,
                        const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                        std::stop_token stop = {});
/// The rest of attend(), from the q, k and v that project() gave.
void attendProjected(const AttentionConfig& config, const Projections& projections, const MaskInput& mask,
                     AttentionResult& result, std::stop_token stop = {}, Keep keep = Keep::scores);

/// The part after the projections: fills scores, weights, lse and headOutput of `result` from its
/// q, k and v. A key that a row doesn't see touches no bit of that row, not even where the key or
/// its value is NaN or infinite; a mask changes no bit of the scores it leaves visible.
void attendHeads(const AttentionConfig& config, const MaskInput& mask, AttentionResult& result,
                 std::stop_token stop = {}, Keep keep = Keep::scores);
/// The same with keys and values that lie elsewhere, one view [m, headDim] per kv head. Values may be
/// narrower, [m, ≤ headDim], and headOutput is as wide as they are.
void attendHeads(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
                 std::span<const MatrixView> values, AttentionResult& result, std::stop_token stop = {},
                 Keep keep = Keep::scores);

/// The weights as softmax made them of the scores, before dropout: [heads, n, m]. Incomplete once `stop` is
/// requested.
Stack undroppedWeights(const AttentionConfig& config, const AttentionResult& result,
                       std::stop_token stop = {});

/// The first `cols` columns of every slice.
Stack leftColumns(const Stack& stack, Index cols);
/// Splits y [n, count · headDim] into [count, n, headDim].
Stack splitHeads(const Eigen::Ref<const Matrix>& y, Index count);
/// The inverse: [count, n, headDim] to [n, count · headDim].
Matrix mergeHeads(const Stack& heads);

/// Bytes an AttentionResult of these sizes occupies; saturates instead of overflowing.
std::uint64_t attentionResultBytes(const AttentionConfig& config, Index queries, Index keys);

}  // namespace headscope::attention
