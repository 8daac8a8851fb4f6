#pragma once

#include <span>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// One product of a sum.
struct SumTerm {
  Index at = 0;  ///< index in both factors
  float a = 0, b = 0;
  double product = 0;
  double running = 0;  ///< Σ of the listed products up to this one
};

/// Σ a[c]·b[c], written out up to a maximum number of terms.
struct WorkedSum {
  std::vector<SumTerm> terms;  ///< by index; if some are omitted, only the largest by magnitude that aren't 0
  Index omitted = 0;
  double rest = 0;             ///< Σ of the omitted products
  bool nothingOmitted = true;  ///< all omitted products are 0
  double total = 0;            ///< Σ of all products, in double precision
};

/// Lists at most `most` products. Throws std::invalid_argument if a and b differ in length.
WorkedSum workedSum(std::span<const float> a, std::span<const float> b, std::size_t most);

}  // namespace headscope::attention
