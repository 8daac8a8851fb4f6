#pragma once

#include <functional>

#include "app/compute/layer/layer_parts.h"

namespace headscope::app {

/// How a layer combines its heads, whether it is synthetic or a model's.
struct OutputMap {
  std::function<attention::Matrix(Index head)> columns;  ///< of W_O, [modelDim, headDim]
  attention::Vector bias;                                ///< [modelDim]; empty = none
  /// Maps heads [heads, n, headDim] to [n, modelDim].
  std::function<attention::Matrix(const attention::Stack& heads, std::stop_token)> apply;
};
/// `layer` must outlive the result.
OutputMap outputMapOf(const LayerParts& layer);

}  // namespace headscope::app
