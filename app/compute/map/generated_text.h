#pragma once

#include <cstdint>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Returns a generated text of exactly `tokens` tokens, determined by `seed`. Its chapters repeat a few
/// names, things and places, so that heads that attend to an earlier occurrence, a neighbour or the end of a
/// sentence find a target at any distance.
std::vector<attention::Token> generatedText(attention::Index tokens, std::uint64_t seed,
                                            attention::Tokenization how);

}  // namespace headscope::app
