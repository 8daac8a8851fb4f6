#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// For one row of scores: how many are above −∞, and the index after the last of them.
struct SeenKeys {
  std::size_t count = 0, end = 0;
};
SeenKeys seenKeys(const float* scores, std::size_t count);

/// Returns the largest value; NaN if one is NaN, −∞ for none.
float largestOf(const float* values, std::size_t count);

/// The range of values over any number of rows.
struct RowExtremes {
  float low, high;  ///< of scores, ignoring non-finite ones; initially ∞ and −∞
  float most;       ///< largest finite |value|; initially 0
};
/// Writes one row: to[i] = values[i], or −∞ where scores[i] is −∞. Widens the extremes by its scores and
/// values.
void markRow(const float* scores, const float* values, std::size_t count, float* to, RowExtremes& extremes);

/// Pools rows [rows, cols], each `rowStride` after the one before, to one row of ⌈cols/factor⌉ values: the
/// largest of all rows and `factor` columns; NaN if one is NaN.
void poolRows(const float* values, std::size_t rowStride, std::size_t rows, std::size_t cols,
              std::size_t factor, float* out);

}  // namespace headscope::attention::kernels
