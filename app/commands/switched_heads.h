#pragma once

#include <string>
#include <vector>

#include "app/scene/subject.h"
#include "attention/core/result.h"
#include "attention/models/config/model_config.h"

namespace headscope::app {

/// Parses the heads given to --off, "1.2" being layer 1, head 2. Returns an Error for one that doesn't exist.
attention::Result<std::vector<SwitchedHead>> switchedHeads(const std::vector<std::string>& names,
                                                           const attention::ModelConfig& config);

}  // namespace headscope::app
