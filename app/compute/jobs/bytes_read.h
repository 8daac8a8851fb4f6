#pragma once

#include <cstdint>

#include "attention/models/model.h"

namespace headscope::app {

/// Returns the bytes of a checkpoint that a pass reads for its first `layers` layers: their matrices, the
/// embedding rows of `tokens` tokens, and, if `head` is set, the map to the vocabulary. For a mixture of
/// experts, counts at most as many experts as that many tokens can reach.
std::uint64_t bytesRead(const attention::Model& model, attention::Index layers, bool head,
                        attention::Index tokens);

}  // namespace headscope::app
