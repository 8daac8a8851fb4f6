#pragma once

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns keys or values [kvHeads, m, headDim] with consecutive kv heads merged into `groups` by their mean
/// (Ainslie et al. 2023, GQA, section 2.1). Projections and rotations are linear, so these are the keys of
/// the averaged projections. Throws std::invalid_argument if `groups` doesn't divide the kv heads.
Stack mergedByMean(const Stack& heads, Index groups);

}  // namespace headscope::attention
