#pragma once

#include <string>

#include "attention/core/result.h"

namespace headscope::app {

/// Describes the exception being handled as "what: why". Call in a catch block. Every exception that is shown
/// to the user, including exhausted memory, is turned into an Error here.
attention::Error caughtError(const std::string& what);

}  // namespace headscope::app
