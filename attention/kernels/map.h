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

/// Smallest factor that summarizeScores takes.
inline constexpr std::size_t kSummaryFactor = 32;
/// For each row and block of keys the largest score, −inf where none is visible, and Σ exp(score − that);
/// both [rows, blocks]. What softmax's normalisation needs is in them, whatever the other keys hold.
/// Factor ≥ kSummaryFactor.
void summarizeScores(const MapRows& part, float* max, float* sum);

/// The log-sum-exp of a row that is summed up in blocks; −inf where all its keys are masked.
float combineSummaries(const float* max, const float* sum, std::size_t blocks);
/// One more row among the pixels: the largest weights, and Σ of weights, so far; −inf where no cell was
/// visible. Both [blocks].
void foldSummaries(const float* max, const float* sum, std::size_t blocks, float lse, float* largest,
                   float* total);

/// Weights exp(score − lse[row]), pooled over factor × factor cells of rows that follow each other (rowStep
/// 1, the first row a multiple of the factor): the largest, and the sum; both [⌈rows / factor⌉, blocks], −inf
/// where no cell is visible. Either may be null. Factor < kSummaryFactor.
void poolWeights(const MapRows& part, const float* lse, float* max, float* sum);

}  // namespace headscope::attention::kernels
