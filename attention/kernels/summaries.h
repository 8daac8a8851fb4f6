#pragma once

#include "attention/kernels/map.h"

namespace headscope::attention::kernels {

/// Summaries of rows for each block of keys. They are enough to compute the softmax normalisation, whatever
/// other keys there are.
struct Summaries {
  float* max = nullptr;         ///< [blocks, stride] largest score of each row; −inf if no key is visible
  float* sum = nullptr;         ///< [blocks, stride] Σ exp(score − reference)
  std::size_t stride = 0;       ///< summaryStride() of the rows
  double* reference = nullptr;  ///< [rows] near the row's largest score, so that its sums fit a float
};

/// Returns the floats from block to block; more than `rows`, because whole vectors are read and written.
std::size_t summaryStride(std::size_t rows);

/// Summarizes each row for each block of `factor` keys. Factor ≥ kSummaryFactor.
void summarizeScores(const MapRows& part, const Summaries& to);

/// Computes the log-sum-exps of the first `count` rows; −inf if all keys of a row are masked.
void combineSummaries(const Summaries& rows, std::size_t count, std::size_t blocks, float* lse);

/// Pools the first `count` rows into one row of pixels, given their log-sum-exps: the largest weight and the
/// sum of weights, both [blocks]; −inf where no cell is visible.
void foldSummaries(const Summaries& rows, std::size_t count, std::size_t blocks, const float* lse,
                   float* largest, float* total);

}  // namespace headscope::attention::kernels
