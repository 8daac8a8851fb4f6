#pragma once

#include <map>
#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::attention {

/// Reads a model.safetensors.index.json: which file of the same folder holds which tensor. Errors, each in
/// one sentence that begins with `name`: no JSON, no weight_map, names that are no text, files that would lie
/// outside the folder, more than 1,024 of them.
Result<std::map<std::string, std::string>> parseShardIndex(std::string_view json, const std::string& name);

}  // namespace headscope::attention
