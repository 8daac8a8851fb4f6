#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"
#include "attention/formats/files/file_io.h"

namespace headscope::attention {

/// Every number type of the format. Of those after I8, only names and sizes are known: a file may hold them,
/// and whatever would read them refuses them.
enum class DType {
  F32,
  F16,
  BF16,
  F64,
  I64,
  I32,
  U8,
  Bool,
  I16,
  I8,
  U16,
  U32,
  U64,
  C64,
  F8_E4M3,
  F8_E5M2,
  F8_E8M0,
  F8_E4M3FNUZ,
  F8_E5M2FNUZ,
  F6_E2M3,
  F6_E3M2,
  F4,
};
std::string_view name(DType dtype);
/// Bytes of one number, rounded up.
std::size_t byteSize(DType dtype);

/// One named tensor; its bytes are little-endian and row-major, as in the file.
struct NamedTensor {
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
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
  std::vector<std::uint64_t> shape;
  std::vector<std::span<const std::uint8_t>> pieces;
};
/// Writes the same format without copying the tensors. Throws std::invalid_argument if a tensor's pieces
/// together don't match its shape.
Status writeSafetensors(const std::filesystem::path& path, std::vector<TensorPieces> tensors,
                        const std::map<std::string, std::string>& metadata);

/// Converts `bytes` of F32, F16, BF16 or F64 to float (F64 is rounded). Returns an Error for other types and
/// for values beyond float's range, with `name`, what was found and what was expected. Throws
/// std::invalid_argument if the counts of `bytes` and `values` differ.
Status convertToFloats(DType dtype, std::span<const std::uint8_t> bytes, std::span<float> values,
                       const std::string& name);
NamedTensor fromFloats(std::span<const float> values, std::vector<std::uint64_t> shape);

/// Returns the product of `shape` times the size of one value, in whole bytes; nullopt if that overflows 64
/// bits.
std::optional<std::uint64_t> byteExtent(DType dtype, const std::vector<std::uint64_t>& shape);

/// Formats a shape: "[3, 64, 48]".
std::string shapeText(const std::vector<std::uint64_t>& shape);

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
