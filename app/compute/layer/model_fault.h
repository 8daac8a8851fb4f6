#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "app/scene/models/open_model.h"
#include "attention/models/tensor_fault.h"

namespace headscope::app {

/// Why what a model made of those tokens isn't finite, in a sentence: the first tensor of the checkpoint that
/// a pass through `parts` reads and that holds NaN or infinity; else that its numbers outgrow fp32. Reads
/// what the pass read: to be asked for once its result isn't finite.
std::string modelFault(const OpenModel& opened, std::span<const attention::Index> ids,
                       attention::PassParts parts, const std::stop_token& stop);

}  // namespace headscope::app
