#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// One product of a sum.
struct SumTerm {
  Index at = 0;  ///< the place in both factors
  float a = 0, b = 0;
  double product = 0;
  double running = 0;  ///< Σ of the products up to this one
};

/// Σ a[c]·b[c], written out as far as there is room for it.
struct WorkedSum {
  std::vector<SumTerm>
      terms;  ///< by their place; where some are left out, those that are largest by amount and not 0
  Index omitted = 0;
  double rest = 0;             ///< Σ of the products that were left out
  bool nothingOmitted = true;  ///< each of these is 0
  double total = 0;            ///< of all, in double precision
};

/// `most` products at most. Throws std::invalid_argument where a and b differ in length.
WorkedSum workedSum(std::span<const float> a, std::span<const float> b, std::size_t most);

}  // namespace headscope::attention
