#pragma once

#include <string>
#include <vector>

#include "app/scene/subject.h"
#include "attention/core/result.h"
#include "attention/models/config/model_config.h"

namespace headscope::app {

/// The heads that --off names, as "1.2": layer 1, head 2. An error names what is no such head.
attention::Result<std::vector<SwitchedHead>> switchedHeads(const std::vector<std::string>& names,
                                                           const attention::ModelConfig& config);

}  // namespace headscope::app
