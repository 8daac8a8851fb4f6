#pragma once

#include <cstdint>

#include "attention/models/model.h"

namespace headscope::app {

/// Bytes of a checkpoint that a pass has read when it is through its first `layers` layers: their matrices,
/// the rows of `tokens` embeddings, and with `head` the map to the vocabulary. Of a
/// mixture's experts at most as many as so many tokens reach.
std::uint64_t bytesRead(const attention::Model& model, attention::Index layers, bool head,
                        attention::Index tokens);

}  // namespace headscope::app
