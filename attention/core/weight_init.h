#pragma once

#include "attention/core/projections.h"

namespace headscope::attention {

/// Normal weights of standard deviation 0.02 · gain, as GPT-2 and BERT begin (Radford et al. 2019, section
/// 2.3), from a generator of our own so that a seed gives the same numbers on every machine; biases as
/// xavierProjections() draws them.
Projections normalProjections(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

/// xavierProjections() with weights `gain` times as large; biases stay.
Projections scaledXavier(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

}  // namespace headscope::attention
