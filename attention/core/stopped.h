#pragma once

#include "attention/core/result.h"

namespace headscope::attention {

/// The Error returned by stopped work. It isn't a fault and is not shown.
inline Error stopped() {
  return {"stopped"};
}

}  // namespace headscope::attention
