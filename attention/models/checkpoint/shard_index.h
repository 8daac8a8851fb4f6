#pragma once

#include <map>
#include <string>
#include <string_view>

#include "attention/core/result.h"

namespace headscope::attention {

/// Reads a model.safetensors.index.json: the file in the same folder that holds each tensor. Returns an
/// Error, one sentence that begins with `name`, if the text isn't JSON, has no weight_map, has file names
/// that aren't text or point outside the folder, or names more than 1,024 files.
Result<std::map<std::string, std::string>> parseShardIndex(std::string_view json, const std::string& name);

}  // namespace headscope::attention
