#pragma once

#include "attention/kernels/score_rules.h"

namespace headscope::attention::kernels {

/// Some rows of one head: softmax(q·kᵀ…)·v in one pass. Outputs that are null aren't computed.
struct AttendBlock : QueryRows {
  const float* k = nullptr;  ///< the same keys unpacked, [keys, headDim]; used for rows with NaN
  std::size_t kRow = 0;
  const float* values = nullptr;  ///< panels; must be finite, so a masked key's weight 0 cancels its value

  float* scores = nullptr;     ///< [rows, keys]; −inf where masked
  float* weights = nullptr;    ///< [rows, keys]; rows sum to 1, or are 0 if no key is visible
  std::size_t weightsRow = 0;  ///< row stride of scores and weights
  float* lse = nullptr;        ///< [rows]; −inf if no key is visible
  float* output = nullptr;     ///< [rows, headDim]
  std::size_t outputRow = 0;
  bool stream = false;  ///< weights and scores bypass the caches, being larger than them
};

/// Returns how many rows a call should take if all rows of a head are to be computed.
std::size_t attendRows(std::size_t keys, bool storesWeights);

/// Computes the outputs that aren't null. Scratch memory is kept per thread for its next call.
void attend(const AttendBlock& block);

}  // namespace headscope::attention::kernels
