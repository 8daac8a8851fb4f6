#pragma once

#include <span>
#include <stop_token>

#include "attention/core/attention_result.h"
#include "attention/core/config.h"
#include "attention/core/mask.h"

namespace headscope::attention {

/// attendHeads() on the kernels, using all threads of their pool. The caller must check the shapes.
void attendHeadsFast(const AttentionConfig& config, const MaskInput& mask, std::span<const MatrixView> keys,
                     std::span<const MatrixView> values, Keep keep, AttentionResult& result,
                     std::stop_token stop);

}  // namespace headscope::attention
