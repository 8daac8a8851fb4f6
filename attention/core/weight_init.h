#pragma once

#include "attention/core/projections.h"

namespace headscope::attention {

/// Returns normally distributed weights of standard deviation 0.02 · gain, the initialisation of GPT-2 and
/// BERT (Radford et al. 2019, section 2.3), drawn by our generator so that a seed gives the same numbers on
/// every machine. Biases are those of xavierProjections().
Projections normalProjections(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

/// Returns xavierProjections() with weights multiplied by `gain` and unchanged biases.
Projections scaledXavier(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

}  // namespace headscope::attention
