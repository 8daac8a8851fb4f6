#pragma once

#include "attention/core/result.h"

namespace headscope::attention {

/// What work says that was told to stop: not a fault of anybody, and nothing to show.
inline Error stopped() {
  return {"stopped"};
}

}  // namespace headscope::attention
