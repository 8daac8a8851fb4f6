#pragma once

#include "app/scene/scene.h"

namespace headscope::app {

/// Returns an Error for the first field out of range: its JSON name, what was found, and what was expected.
attention::Status validate(const Scene& scene);

}  // namespace headscope::app
