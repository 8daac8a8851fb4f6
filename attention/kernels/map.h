#pragma once

#include <cstddef>
#include <stop_token>

#include "attention/kernels/score_rules.h"

namespace headscope::attention::kernels {

/// Rows of one head and some of its keys. `rules.runs` and everything else by row are those of rows 0,
/// rowStep, 2·rowStep … after the first.
struct MapRows {
  const float* q = nullptr;  ///< [rows, headDim]
  std::size_t qRow = 0;
  std::size_t rows = 0;
  Panels keys;
  ScoreRules rules;
  std::size_t keyBegin = 0, keyEnd = 0;   ///< keyBegin is a multiple of `factor`
  std::size_t factor = 1;                 ///< keys that are taken together, a power of two
  const std::stop_token* stop = nullptr;  ///< asked every few hundred keys; outputs are undefined then
  std::size_t* runsPassed = nullptr;      ///< where given, counts the runs that are gone through
};

/// Blocks of MapRows: ⌈(keyEnd − keyBegin) / factor⌉.
std::size_t mapBlocks(const MapRows& part);

/// Factors of poolWeights are smaller, those of summarizeScores are not.
inline constexpr std::size_t kSummaryFactor = 32;

/// Weights exp(score − lse[row]), pooled over factor × factor cells of rows that follow each other (rowStep
/// 1, the first row a multiple of the factor): the largest, and the sum; both [⌈rows / factor⌉, blocks], −inf
/// where no cell is visible. Either may be null. Factor < kSummaryFactor.
void poolWeights(const MapRows& part, const float* lse, float* max, float* sum);

}  // namespace headscope::attention::kernels
