#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "attention/kernels/buffer.h"

namespace headscope::attention::kernels {

/// Keys begin … end−1.
struct Run {
  std::size_t begin = 0, end = 0;
};

/// How q·k becomes scores for some rows, in this order: ·scale, + bias, c·tanh(s/c), + additive mask. Keys
/// outside the row's runs get −inf.
struct ScoreRules {
  float scale = 1;
  float softcap = 0;             ///< c; 0 for none
  const float* bias = nullptr;   ///< for row r and key j at bias[j − r·rowStep]; null for none
  std::size_t rowStep = 1;       ///< matrix rows from one row to the next
  const float* added = nullptr;  ///< for row r and key j at added[r·addedRow + j]; null for none
  std::size_t addedRow = 0;
  const Run* runs = nullptr;  ///< of all rows, one row after another; ascending, none empty, no two adjacent
  const std::size_t* firstRun = nullptr;  ///< [rows + 1]; row r has runs firstRun[r] … firstRun[r+1]−1
};

/// Keys or values of one head in the order the kernels read them: panels of columns, padded with zeros. For
/// keys, a panel's columns are keys, read dimension by dimension; for values, they are dimensions, read key
/// by key.
struct Panels {
  const float* data = nullptr;
  std::size_t keys = 0, headDim = 0;
};

/// Some rows of one head and the keys they attend to.
struct QueryRows {
  const float* q = nullptr;  ///< [rows, headDim]
  std::size_t qRow = 0;
  std::size_t rows = 0;
  Panels keys;
  ScoreRules rules;
  const std::stop_token* stop = nullptr;  ///< checked every few hundred keys; a stop leaves outputs undefined
};

/// Memory for the scores of some rows.
struct ScoreScratch {
  Buffer q, scores;
  std::vector<std::uint8_t> active;
  std::vector<const Run*> next;
};

/// The number of columns in a panel on this processor.
std::size_t panelWidth();
/// The number of floats in the panels of this many keys or values.
std::size_t keyPanelFloats(std::size_t keys, std::size_t headDim);
std::size_t valuePanelFloats(std::size_t keys, std::size_t headDim);
/// Packs k or v [keys, headDim], `count` keys starting at `first` (a multiple of the panel width), into
/// panels of all `keys` keys, aligned to 64 bytes. Calls for different keys may run concurrently.
void packKeys(const float* k, std::size_t rowStride, std::size_t keys, std::size_t headDim, std::size_t first,
              std::size_t count, float* panels);
void packValues(const float* v, std::size_t rowStride, std::size_t keys, std::size_t headDim,
                std::size_t first, std::size_t count, float* panels);

}  // namespace headscope::attention::kernels
