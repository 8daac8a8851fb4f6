#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// Keys begin … end−1.
struct Run {
  std::size_t begin = 0, end = 0;
};

/// How q·k becomes scores for some rows: ·scale, + bias, c·tanh(s/c), + additive, in
/// this order, and −inf for every key outside the row's runs.
struct ScoreRules {
  float scale = 1;
  float softcap = 0;             ///< c; 0 for none
  const float* bias = nullptr;   ///< of row r and key j at bias[j − r·rowStep]; null for none
  std::size_t rowStep = 1;       ///< rows of the matrix from one row to the next
  const float* added = nullptr;  ///< of row r and key j at added[r·addedRow + j]; null for none
  std::size_t addedRow = 0;
  const Run* runs = nullptr;  ///< ascending, none empty, no two touching, of all rows behind each other
  const std::size_t* firstRun = nullptr;  ///< [rows + 1]; row r has runs firstRun[r] … firstRun[r+1]−1
};

/// Keys or values of one head in the order the kernels read them: panels of columns, zero-filled at the end.
/// For keys a panel's columns are keys and it is read dimension by dimension, for values its columns are
/// dimensions and it is read key by key.
struct Panels {
  const float* data = nullptr;
  std::size_t keys = 0, headDim = 0;
};

/// Columns of a panel on this processor.
std::size_t panelWidth();
/// Floats that the panels of so many keys and values take.
std::size_t keyPanelFloats(std::size_t keys, std::size_t headDim);
std::size_t valuePanelFloats(std::size_t keys, std::size_t headDim);
/// k or v [keys, headDim] from key `first` (a multiple of the panel's columns) over `count` keys into panels
/// of all `keys` keys, aligned to 64 bytes. Calls for different keys may run at the same time.
void packKeys(const float* k, std::size_t rowStride, std::size_t keys, std::size_t headDim, std::size_t first,
              std::size_t count, float* panels);
void packValues(const float* v, std::size_t rowStride, std::size_t keys, std::size_t headDim,
                std::size_t first, std::size_t count, float* panels);

}  // namespace headscope::attention::kernels
