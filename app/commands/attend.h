#pragma once

#include <cstdint>
#include <string>

#include "attention/formats/layers/attention_file.h"

namespace CLI {
class App;
}

namespace headscope::app {

/// Reads an attention layer and its input from the safetensors file `input`, runs it, and writes
/// everything that was computed on the way to `output`. Nothing is written on failure.
attention::Status attendFile(const std::string& input, const std::string& output,
                             const attention::AttentionOptions& options, std::uint64_t budget);

/// What attend may take for its results: a share of the memory this process can have.
std::uint64_t attendBudget();

/// Registers `headscope attend`; when it is chosen it runs and sets `exitCode`.
void addAttendCommand(CLI::App& app, int& exitCode);

}  // namespace headscope::app
