#pragma once

#include <stop_token>

#include "attention/kernels/score_rules.h"

namespace headscope::attention::kernels {

/// Rows of one head and some of its keys. Row r of `rules.runs` and all other data by row is row r·rowStep
/// after the first in the matrix.
struct MapRows {
  const float* q = nullptr;  ///< [rows, headDim]
  std::size_t qRow = 0;
  std::size_t rows = 0;
  Panels keys;
  ScoreRules rules;
  std::size_t keyBegin = 0, keyEnd = 0;   ///< keyBegin is a multiple of `factor`
  std::size_t factor = 1;                 ///< keys pooled together, a power of two
  const std::stop_token* stop = nullptr;  ///< checked every few hundred keys; a stop leaves outputs undefined
  std::size_t* runsPassed = nullptr;      ///< if not null, counts the runs visited
};

/// Returns the number of key blocks, ⌈(keyEnd − keyBegin) / factor⌉.
std::size_t mapBlocks(const MapRows& part);

/// Factors are below this for poolWeights() and at least this for summarizeScores().
inline constexpr std::size_t kSummaryFactor = 32;

/// Pools the weights exp(score − lse[row]) over factor × factor cells of consecutive rows (rowStep 1, the
/// first row a multiple of the factor): the largest weight and the sum, both [⌈rows / factor⌉, blocks], −inf
/// where no cell is visible. Either output may be null. Factor < kSummaryFactor.
void poolWeights(const MapRows& part, const float* lse, float* max, float* sum);

}  // namespace headscope::attention::kernels
