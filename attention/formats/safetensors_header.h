#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/formats/files/regular_file.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {

/// The file begins with the length of its JSON header in so many bytes.
inline constexpr std::uint64_t kHeaderLengthBytes = 8;

/// One tensor as the JSON header declares it: its bytes are [begin, end) of the data.
struct TensorEntry {
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, TensorEntry> tensors;
  std::map<std::string, std::string> metadata;
};

/// Length of the JSON header in a file of `fileSize` bytes that begins with `start`: the whole file or its
/// first kHeaderLengthBytes. Errors: a file too short for it, a header beyond the file or the format's limit.
Result<std::uint64_t> safetensorsHeaderSize(std::span<const std::uint8_t> start, std::uint64_t fileSize,
                                            const std::string& name);

/// Reads the JSON header: one pass over its events, so that neither deep nesting nor a repeated name can
/// hide in a document tree. Checks that the tensors cover the `dataSize` bytes behind it without overlap or
/// hole, each with the extent of its shape. `name` stands in front of messages.
Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, std::uint64_t dataSize,
                                                 const std::string& name);

/// A header, and where in the file the data behind it begins.
struct SafetensorsLayout {
  SafetensorsHeader header;
  std::uint64_t dataBegin = 0;
};
/// Reads and checks the header of a file, and nothing else of it.
Result<SafetensorsLayout> readSafetensorsHeader(const RegularFile& file, const std::string& name);

/// Which name a dtype has in the file, and back.
Result<DType> dtypeFromName(std::string_view text);

}  // namespace headscope::attention
