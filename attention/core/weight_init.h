#pragma once

#include "attention/core/projections.h"

namespace headscope::attention {

/// Normal weights of standard deviation 0.02 · gain, as GPT-2 and BERT begin (Radford et al. 2019, section
/// 2.3), from a generator of our own so that a seed gives the same numbers on every machine; biases as
/// xavierProjections() draws them.
Projections normalProjections(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

/// The first `rows` of a map of xavierProjections(), without the rest: the maps are drawn row by row, so one
/// head of a wide layer needs no more. [rows, in] of [out, in]; `map` is 0 for q, 1 for k, 2 for v, 3 for o.
Matrix xavierRows(Index rows, Index out, Index in, std::uint64_t seed, std::uint64_t map);

/// xavierProjections() with weights `gain` times as large; biases stay.
Projections scaledXavier(const AttentionConfig& config, bool bias, std::uint64_t seed, float gain);

}  // namespace headscope::attention
