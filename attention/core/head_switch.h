#pragma once

#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Which heads' outputs are changed before W_O puts them together, and how: what switching a head off is
/// made of.
struct HeadSwitch {
  std::vector<float> scale;  ///< [heads] factor on each head's output, 0 switches it off; empty: 1 for all
  /// Heads whose output, after the factor, is its mean over the rows ("mean ablation"; Wang et al. 2022,
  /// Interpretability in the Wild, section 2).
  std::vector<Index> mean;

  bool empty() const { return scale.empty() && mean.empty(); }
};

/// Changes headOutput [heads, n, headDim]. Means are those of the first `rows` rows, and stand in all rows.
void switchHeads(Stack& headOutput, const HeadSwitch& how, Index rows);

}  // namespace headscope::attention
