#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// Of one row of scores: how many are above −∞, and one behind the last of them.
struct SeenKeys {
  std::size_t count = 0, end = 0;
};
SeenKeys seenKeys(const float* scores, std::size_t count);

/// The largest value; NaN where one is NaN, −∞ of none.
float largestOf(const float* values, std::size_t count);

/// What values lay between, over any number of rows.
struct RowExtremes {
  float low, high;  ///< of finite scores; begin with ∞ and −∞
  float most;       ///< of |value| that is finite; begins with 0
};
/// One row: to[i] = values[i], −∞ where scores[i] is −∞; widens the extremes by scores and values.
void markRow(const float* scores, const float* values, std::size_t count, float* to, RowExtremes& extremes);

}  // namespace headscope::attention::kernels
