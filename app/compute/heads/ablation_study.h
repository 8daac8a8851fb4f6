#pragma once

#include "app/compute/layer/layer_parts.h"
#include "attention/heads/head_shares.h"

namespace headscope::app {

/// What each head of a layer adds to its output, and what is left without it.
struct AblationStudy {
  std::shared_ptr<const LayerParts> question;
  attention::HeadShares shares;  ///< of the layer with every head on
  attention::Matrix whole;       ///< [n, modelDim] its output then
  std::vector<Index> off;        ///< heads that the scene has switched off, ascending
  attention::Vector together;  ///< [n] ‖Δoutput‖ / ‖output‖ without those; zeros where there are none
};

/// Pure. Incomplete once `stop` is requested.
AblationStudy studyAblation(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop = {});

}  // namespace headscope::app
