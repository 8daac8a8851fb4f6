#pragma once

#include <functional>

#include "app/compute/layer/layer_parts.h"

namespace headscope::app {

/// How a layer puts its heads together, whether it was made here or is a model's.
struct OutputMap {
  std::function<attention::Matrix(Index head)> columns;  ///< of W_O, [modelDim, headDim]
  attention::Vector bias;                                ///< [modelDim], or empty for none
  /// heads [heads, n, headDim] to [n, modelDim].
  std::function<attention::Matrix(const attention::Stack& heads, std::stop_token)> apply;
};
/// `layer` has to outlive it.
OutputMap outputMapOf(const LayerParts& layer);

}  // namespace headscope::app
