#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "app/scene/models/open_model.h"
#include "attention/models/tensor_fault.h"

namespace headscope::app {

/// Returns a sentence on why a model's result for these tokens isn't finite: the first tensor with NaN or
/// infinity among those that a pass through `parts` reads, or else that its values overflow fp32. Reads as
/// much as the pass did; call only if the result isn't finite.
std::string modelFault(const OpenModel& opened, std::span<const attention::Index> ids,
                       attention::PassParts parts, const std::stop_token& stop);

}  // namespace headscope::app
