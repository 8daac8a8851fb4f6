#pragma once

#include <cstddef>

#include "attention/kernels/map.h"

namespace headscope::attention::kernels {

/// What rows come to in each block of keys. Softmax's normalisation follows from it, whatever the other keys
/// hold.
struct Summaries {
  float* max = nullptr;    ///< [blocks, stride] largest score of each row; −inf where no key is visible
  float* sum = nullptr;    ///< [blocks, stride] Σ exp(score − reference)
  std::size_t stride = 0;  ///< summaryStride of the rows
  double* reference = nullptr;  ///< [rows] about the row's largest score, so that its sums are floats
};

/// Floats from block to block: more than rows, because whole vectors are read and written.
std::size_t summaryStride(std::size_t rows);

/// Of each row and block of `factor` keys. Factor ≥ kSummaryFactor.
void summarizeScores(const MapRows& part, const Summaries& to);

/// Log-sum-exps of the first `count` rows; −inf where all keys of one are masked.
void combineSummaries(const Summaries& rows, std::size_t count, std::size_t blocks, float* lse);

/// The first `count` rows to one row of pixels, given their log-sum-exps: the largest weights, and Σ of
/// weights; −inf where no cell is visible. Both [blocks].
void foldSummaries(const Summaries& rows, std::size_t count, std::size_t blocks, const float* lse,
                   float* largest, float* total);

}  // namespace headscope::attention::kernels
