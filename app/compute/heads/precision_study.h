#pragma once

#include <array>

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/rounded_layer.h"

namespace headscope::app {

/// How far one head in a smaller format differs from fp32.
struct HeadDifference {
  float weights = 0;  ///< the largest |Δweight|
  float output = 0;   ///< ‖Δ head output‖ / ‖head output‖ over all tokens
};

/// How far a layer in one format differs from fp32.
struct FormatDifference {
  attention::NumberFormat format = attention::NumberFormat::fp16;
  attention::Stack weights;  ///< [heads, ⌈n/factor⌉, ⌈m/factor⌉] |Δweight|, max-pooled; −inf if masked
  std::vector<HeadDifference> heads;
  attention::Vector output;  ///< [n] ‖Δoutput‖ / ‖output‖; empty for a model's layer
  float largest = 0;         ///< the largest |Δweight| over all heads
  bool finite = true;        ///< nothing became infinite or NaN
};

struct LayerPrecisionStudy {
  static constexpr std::array kFormats{attention::NumberFormat::fp16, attention::NumberFormat::bf16};

  std::shared_ptr<const LayerParts> question;
  int factor = 1;  ///< side in cells of a pooled square
  std::array<FormatDifference, 2> formats;
  bool fromInputs = true;  ///< whether q, k and v are computed in the format too; a model's are only rounded
};

/// Pure. The result is incomplete if `stop` is requested.
LayerPrecisionStudy studyPrecision(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop = {});

}  // namespace headscope::app
