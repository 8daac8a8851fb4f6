#include "attention/core/config.h"

#include <cmath>

namespace headscope::attention {

float AttentionConfig::effectiveScale() const {
  return scale.value_or(static_cast<float>(1.0 / std::sqrt(static_cast<double>(headDim))));
}

}  // namespace headscope::attention
