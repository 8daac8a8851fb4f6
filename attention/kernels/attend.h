#pragma once

#include <cstddef>
#include <stop_token>

#include "attention/kernels/score_rules.h"

namespace headscope::attention::kernels {

/// Some rows of one head, softmax(q·kᵀ…)·v in one pass. Outputs that are null are not made.
struct AttendBlock {
  const float* q = nullptr;  ///< [rows, headDim]
  std::size_t qRow = 0;
  std::size_t rows = 0;
  Panels keys;               ///< [keys, headDim]
  const float* k = nullptr;  ///< the same keys as they were, [keys, headDim], to look at rows with NaN
  std::size_t kRow = 0;
  const float* values = nullptr;  ///< panels; finite: a masked key's 0 has to silence its value
  ScoreRules rules;

  float* scores = nullptr;     ///< [rows, keys]; −inf where masked
  float* weights = nullptr;    ///< [rows, keys]; rows sum to 1, or are 0 where no key is visible
  std::size_t weightsRow = 0;  ///< from row to row of both
  float* lse = nullptr;        ///< [rows]; −inf where no key is visible
  float* output = nullptr;     ///< [rows, headDim]
  std::size_t outputRow = 0;
  const std::stop_token* stop = nullptr;  ///< asked every few hundred keys; outputs are undefined then
  bool stream = false;  ///< weights and scores go past the caches: they are larger than these
};

/// Rows that a call should bring when it has all rows of a head to do.
std::size_t attendRows(std::size_t keys, bool storesWeights);

/// Computes what is asked for. Scratch memory belongs to the thread and stays for its next call.
void attend(const AttendBlock& block);

}  // namespace headscope::attention::kernels
