#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/dtype.h"
#include "attention/formats/files/file_io.h"

namespace headscope::attention {

/// One named tensor; its bytes are little-endian and row-major, as in the file.
struct NamedTensor {
  DType dtype = DType::F32;
  Shape shape;
  std::vector<std::uint8_t> bytes;
};

/// A safetensors file in memory (https://github.com/huggingface/safetensors): 8 bytes of header length, a
/// JSON header with dtype, shape and data_offsets per name, then the data.
struct SafetensorsFile {
  std::map<std::string, NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Returns the bytes of the file, with data aligned to its type. Throws std::invalid_argument if a tensor's
/// bytes don't match its shape. Returns an Error if a name or a metadata text isn't UTF-8.
Result<std::vector<std::uint8_t>> formatSafetensors(const SafetensorsFile& file);
/// Writes to a temporary file next to `path`, flushes it, then renames it to `path`.
Status writeSafetensors(const std::filesystem::path& path, const SafetensorsFile& file);

/// A tensor whose bytes are stored elsewhere in pieces, listed in file order.
struct TensorPieces {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  std::vector<std::span<const std::uint8_t>> pieces;
};
/// Writes the same format without copying the tensors. Throws std::invalid_argument if a tensor's pieces
/// together don't match its shape.
Status writeSafetensors(const std::filesystem::path& path, std::vector<TensorPieces> tensors,
                        const std::map<std::string, std::string>& metadata);

NamedTensor fromFloats(std::span<const float> values, Shape shape);

/// The number of bytes at the start of the file that give the length of its JSON header.
inline constexpr std::uint64_t kHeaderLengthBytes = 8;

/// A tensor as declared in the JSON header: bytes [begin, end) of the data.
struct TensorEntry {
  DType dtype = DType::F32;
  Shape shape;
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
  std::map<std::string, StoredOrder> orders = {};  ///< of tensors of other formats that need one
};
/// Reads and checks only the header of a file.
Result<SafetensorsLayout> readSafetensorsHeader(const RegularFile& file, const std::string& name);

}  // namespace headscope::attention
