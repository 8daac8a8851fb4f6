#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::attention {

/// What the files of a folder hold.
struct WeightCount {
  std::uint64_t parameters =
      0;                    ///< without scales and zeros; of packed tensors what they unpack to. 0: not said
  std::uint64_t bytes = 0;  ///< of all tensors
};

/// Whether it is the mask that GPT-2, GPT-Neo and GPT-NeoX keep in their files, [1, 1, n, n], and no weight.
bool isCausalMask(std::string_view name, std::span<const std::uint64_t> shape);

/// Counts one safetensors file by its JSON header: `json` names dtype, shape and data_offsets of each tensor.
/// `bits` are those of a weight that is packed into whole words (AWQ, GPTQ).
Result<WeightCount> countTensors(std::string_view json, double bits, const std::string& name);

/// The safetensors files of a folder by their headers alone; where shards are absent what
/// model.safetensors.index.json says of them. Nothing where there are neither.
Result<std::optional<WeightCount>> countWeights(const std::filesystem::path& folder, double bits);

}  // namespace headscope::attention
