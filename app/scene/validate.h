#pragma once

#include "app/scene/scene.h"

namespace headscope::app {

/// The first field out of its range, by its JSON name, with what was found and what was expected.
attention::Status validate(const Scene& scene);

}  // namespace headscope::app
