#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "attention/formats/safetensors.h"

namespace headscope::attention {

/// One tensor as the JSON header declares it. Nothing is checked against the data yet.
struct TensorEntry {
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, TensorEntry> tensors;
  std::map<std::string, std::string> metadata;
};

/// Reads the JSON header: one pass over its events, so that neither deep nesting nor a repeated name can
/// hide in a document tree. `name` stands in front of messages.
Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, const std::string& name);

/// Which name a dtype has in the file, and back.
Result<DType> dtypeFromName(std::string_view text);

}  // namespace headscope::attention
