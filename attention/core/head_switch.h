#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Changes to heads' outputs before W_O combines them. Used to switch heads off.
struct HeadSwitch {
  std::vector<float> scale;  ///< [heads] factor on each head's output, 0 = off; empty = 1 for all
  /// Heads whose output, after scaling, is replaced by its mean over the rows ("mean ablation"; Wang et al.
  /// 2022, Interpretability in the Wild, section 2).
  std::vector<Index> mean;

  bool empty() const { return scale.empty() && mean.empty(); }
};

/// Applies `how` to headOutput [heads, n, headDim]. Means of the first `rows` rows replace all rows.
void switchHeads(Stack& headOutput, const HeadSwitch& how, Index rows);

}  // namespace headscope::attention
