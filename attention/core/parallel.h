#pragma once

#include <functional>
#include <stop_token>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Calls task(i) once for each i below `count` on the threads that the kernels use, in any order, and returns
/// when all are done. `stop` is asked before each; once it is requested the rest are left out and the answer
/// is false. The first exception of a task is thrown on.
bool forEach(Index count, const std::stop_token& stop, const std::function<void(Index)>& task);

}  // namespace headscope::attention
