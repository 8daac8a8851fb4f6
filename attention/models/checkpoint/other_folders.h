#pragma once

#include <filesystem>

#include "attention/core/result.h"

namespace headscope::attention {

/// The reason that a folder without a config.json can't be opened: what kind of folder it is instead.
Error withoutConfig(const std::filesystem::path& folder);
/// The reason that a folder without safetensors can't be opened: where its weights are instead.
Error withoutWeights(const std::filesystem::path& folder);

}  // namespace headscope::attention
