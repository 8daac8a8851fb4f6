#pragma once

#include <string>

#include "attention/core/result.h"

namespace headscope::app {

/// The exception that is being handled as a sentence, "what: why": to be called in a catch block. The one
/// place where exceptions and exhausted memory become errors that are shown.
attention::Error caughtError(const std::string& what);

}  // namespace headscope::app
