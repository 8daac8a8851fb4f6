#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// The weights in the files of a folder.
struct WeightCount {
  std::uint64_t parameters = 0;  ///< weights after unpacking, without scales and zeros; 0: unknown
  std::uint64_t bytes = 0;       ///< of all tensors
  std::map<std::string, std::uint64_t> numbers = {};  ///< of each dtype
};

/// How weights are packed into whole numbers.
struct Packing {
  Index bits = 0;   ///< per weight; 0: not known, so weights in whole numbers can't be counted
  Index group = 0;  ///< weights that share a scale; 0: not known
};

/// Whether a tensor isn't a weight but the causal mask [1, 1, n, n] in files of GPT-2, GPT-Neo and GPT-NeoX.
bool isCausalMask(std::string_view name, std::span<const std::uint64_t> shape);

/// Counts one safetensors file from its JSON header, which gives each tensor's dtype, shape and data_offsets.
Result<WeightCount> countTensors(std::string_view json, const Packing& packing, const std::string& name);

/// Counts a folder's safetensors files from their headers alone. If a shard is absent, takes the totals from
/// model.safetensors.index.json. Returns nothing if there is neither.
Result<std::optional<WeightCount>> countWeights(const std::filesystem::path& folder, const Packing& packing);

}  // namespace headscope::attention
