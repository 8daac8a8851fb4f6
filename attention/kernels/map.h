#pragma once

#include "attention/kernels/score_rules.h"

namespace headscope::attention::kernels {

/// Rows of one head and some of its keys. Row r of `rules.runs` and all other data by row is row r·rowStep
/// after the first in the matrix.
struct MapRows : QueryRows {
  std::size_t keyBegin = 0, keyEnd = 0;  ///< keyBegin is a multiple of `factor`
  std::size_t factor = 1;                ///< keys pooled together, a power of two
  std::size_t* runsPassed = nullptr;     ///< if not null, counts the runs visited
};

/// Returns the number of key blocks, ⌈(keyEnd − keyBegin) / factor⌉.
std::size_t mapBlocks(const MapRows& part);

/// Factors are below this for poolWeights() and at least this for summarizeScores().
inline constexpr std::size_t kSummaryFactor = 32;

/// Pools the weights exp(score − lse[row]) over factor × factor cells of consecutive rows (rowStep 1, the
/// first row a multiple of the factor): the largest weight and the sum, both [⌈rows / factor⌉, blocks], −inf
/// where no cell is visible. Either output may be null. Factor < kSummaryFactor.
void poolWeights(const MapRows& part, const float* lse, float* max, float* sum);

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
