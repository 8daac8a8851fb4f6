#pragma once

#include <span>
#include <stop_token>

#include "attention/core/attention.h"

namespace headscope::attention::test {

// Attention written like the equation, in Eigen, on one thread: the reference that the fast path is tested
// against. Shapes, semantics and errors are those of attention.h; all results are kept.

AttentionResult attendTextbook(const AttentionConfig& config, const Projections& projections,
                               const Eigen::Ref<const Matrix>& x, const Eigen::Ref<const Matrix>& context,
                               const MaskInput& mask, std::stop_token stop = {});

/// Checks `stop` between heads; once it is requested, the remaining heads stay zero.
void attendHeadsTextbook(const AttentionConfig& config, const MaskInput& mask,
                         std::span<const MatrixView> keys, std::span<const MatrixView> values,
                         AttentionResult& result, std::stop_token stop = {});

/// Returns x·Wᵀ + b.
Matrix applyTextbook(const Linear& linear, const Eigen::Ref<const Matrix>& x);

}  // namespace headscope::attention::test
