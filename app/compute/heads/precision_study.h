#pragma once

#include <array>

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/rounded_layer.h"

namespace headscope::app {

/// What one head comes to in a smaller format, beside fp32.
struct HeadDifference {
  float weights = 0;  ///< the largest |Δweight|
  float output = 0;   ///< ‖Δ head output‖ / ‖head output‖ over all tokens
};

/// A layer in one format.
struct FormatDifference {
  attention::NumberFormat format = attention::NumberFormat::fp16;
  attention::Stack weights;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉] |Δweight|, max-pooled; −inf: masked
  std::vector<HeadDifference> heads;
  attention::Vector output;  ///< [n] ‖Δoutput‖ / ‖output‖; empty of a model's layer
  float largest = 0;         ///< the largest |Δweight| of all heads
  bool finite = true;        ///< nothing became infinite or NaN
};

struct LayerPrecisionStudy {
  static constexpr std::array kFormats{attention::NumberFormat::fp16, attention::NumberFormat::bf16};

  std::shared_ptr<const LayerParts> question;
  int factor = 1;  ///< cells a side that are pooled into one
  std::array<FormatDifference, 2> formats;
  bool fromInputs = true;  ///< q, k and v are computed in the format too; of a model they are rounded
};

/// Pure. Incomplete once `stop` is requested.
LayerPrecisionStudy studyPrecision(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop = {});

}  // namespace headscope::app
