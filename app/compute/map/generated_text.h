#pragma once

#include <cstdint>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// A made-up text of exactly `tokens` tokens, the same for the same seed: chapters of sentences in which a
/// few names, things and places come up again and again, so that heads that look for an earlier occurrence,
/// for the neighbour or for the end of a sentence find something at any distance.
std::vector<attention::Token> generatedText(attention::Index tokens, std::uint64_t seed,
                                            attention::Tokenization how);

}  // namespace headscope::app
