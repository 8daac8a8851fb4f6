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

/// The number of bytes at the start of the file that give the length of its JSON header.
inline constexpr std::uint64_t kHeaderLengthBytes = 8;

/// A tensor as declared in the JSON header: bytes [begin, end) of the data.
struct TensorEntry {
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, TensorEntry> tensors;
  std::map<std::string, std::string> metadata;
};

/// Returns the length of the JSON header of a file of `fileSize` bytes. `start` is the whole file or its
/// first kHeaderLengthBytes. Returns an Error if the file is too short or the header exceeds the file or the
/// format's limit.
Result<std::uint64_t> safetensorsHeaderSize(std::span<const std::uint8_t> start, std::uint64_t fileSize,
                                            const std::string& name);

/// Parses the JSON header in one pass without building a tree, in which deep nesting or a repeated name could
/// hide. Checks that each tensor has the extent of its shape and that together they cover the `dataSize`
/// bytes after the header without overlap or gaps. Messages are prefixed by `name`.
Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, std::uint64_t dataSize,
                                                 const std::string& name);

/// A header, and the offset in the file of the data after it.
struct SafetensorsLayout {
  SafetensorsHeader header;
  std::uint64_t dataBegin = 0;
};
/// Reads and checks only the header of a file.
Result<SafetensorsLayout> readSafetensorsHeader(const RegularFile& file, const std::string& name);

/// Returns the dtype that a name in the file stands for; name() is the inverse.
Result<DType> dtypeFromName(std::string_view text);

}  // namespace headscope::attention
