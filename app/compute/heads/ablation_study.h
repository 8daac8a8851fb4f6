#pragma once

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/head_shares.h"

namespace headscope::app {

/// What each head of a layer adds to its output, and the output without the heads that are switched off.
struct AblationStudy {
  std::shared_ptr<const LayerParts> question;
  attention::HeadShares shares;  ///< of the layer with every head on
  attention::Matrix whole;       ///< [n, modelDim] the output with every head on
  std::vector<Index> off;        ///< heads that the scene switches off, ascending
  attention::Vector together;    ///< [n] ‖Δoutput‖ / ‖output‖ without those; zeros if there are none
};

/// Pure. The result is incomplete if `stop` is requested.
AblationStudy studyAblation(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop = {});

}  // namespace headscope::app
