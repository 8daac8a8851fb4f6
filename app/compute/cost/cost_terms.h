#pragma once

#include <string>

#include "app/compute/cost/cost_figures.h"

namespace headscope::app {

// The terms of a figure on the cost page, with their numbers, shown when the pointer is on it.

/// "327,680 B per token × 131,072 tokens × batch 1 = 40 GiB".
std::string cacheTerms(const CostFigures& figures);
/// "8,192 blocks of 16 tokens for each of 1 sequence: 40 GiB, 0 B of it empty".
std::string reservedTerms(const CostFigures& figures);
/// "70,553,706,496 parameters in bf16, 16 bits each = 131.4 GiB, estimated from the sizes; over 2 GPUs 65.71
/// GiB each".
std::string weightsTerms(const CostFigures& figures);
/// "4 of 8 kv heads on each of 2 GPUs: 20 GiB in whole pages".
std::string cachePerGpuTerms(const CostFigures& figures);
/// "8,192 tokens at once × 50,176 numbers × 2 B + 1 MiB of logits = 785 MiB. …"
std::string activationTerms(const CostFigures& figures);
/// "65.71 GiB of weights + 20 GiB of cache + 785 MiB of activations = 86.48 GiB, of … that are usable".
std::string holdsTerms(const attention::GpuMemory& memory);
/// How operations of latent attention are counted: "Decode is counted absorbed (DeepSeek-V2, 2.1.2): …".
std::string latentTerms(const attention::ModelShape& shape);
/// "A decode step reads 131.3 GiB of weights and 40 GiB of cache: ÷ 9.6 TB/s = 19.2 ms. …"
std::string timeTerms(const CostFigures& figures);

}  // namespace headscope::app
