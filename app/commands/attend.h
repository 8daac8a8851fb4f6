#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/scene/subject.h"
#include "attention/core/result.h"
#include "attention/models/layers/attention_file.h"
#include "attention/models/config/model_config.h"

namespace headscope::app {

/// Reads an attention layer and its input from the safetensors file `input`, runs it, and writes every array
/// computed on the way to `output`. `budget` is in bytes. Writes nothing on failure.
attention::Status attendFile(const std::string& input, const std::string& output,
                             const attention::AttentionOptions& options, std::uint64_t budget);

/// The bytes that attend may use for its results: a share of the memory available to this process.
std::uint64_t attendBudget();

/// Parses the heads given to --off, "1.2" being layer 1, head 2. Returns an Error for one that doesn't exist.
attention::Result<std::vector<SwitchedHead>> switchedHeads(const std::vector<std::string>& names,
                                                           const attention::ModelConfig& config);

}  // namespace headscope::app
