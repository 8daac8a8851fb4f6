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

namespace headscope::attention {

enum class DType { F32, F16, BF16, F64, I64, I32, U8, Bool, I16, I8 };
std::string_view name(DType dtype);
std::size_t byteSize(DType dtype);

/// One named tensor, its bytes little-endian and row-major as the file holds them.
struct NamedTensor {
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint8_t> bytes;
};

/// A safetensors file in memory (https://github.com/huggingface/safetensors): 8 bytes header length,
/// a JSON header with dtype, shape and data_offsets per name, then the data.
struct SafetensorsFile {
  std::map<std::string, NamedTensor> tensors;
  std::map<std::string, std::string> metadata;
};

/// Untrusted bytes in. Checks, before it allocates: header length within the file, valid JSON without
/// duplicate names, known dtypes, shape × dtype = extent without overflow, offsets inside the data,
/// no overlap, no hole. `name` stands in front of every message.
Result<SafetensorsFile> parseSafetensors(std::span<const std::uint8_t> bytes, const std::string& name);
/// A directory, pipe, unreadable or missing file is an error in one sentence.
Result<SafetensorsFile> readSafetensors(const std::filesystem::path& path);
/// The bytes of the file, data aligned to its type. Throws std::invalid_argument if a tensor's bytes
/// don't fit its shape; an error if a name or a metadata text is not UTF-8.
Result<std::vector<std::uint8_t>> formatSafetensors(const SafetensorsFile& file);
/// To a temporary file beside `path`, flushed, then renamed over it.
Status writeSafetensors(const std::filesystem::path& path, const SafetensorsFile& file);

/// A tensor whose bytes lie in pieces elsewhere, in the order they are to have in the file.
struct TensorPieces {
  std::string name;
  DType dtype = DType::F32;
  std::vector<std::uint64_t> shape;
  std::vector<std::span<const std::uint8_t>> pieces;
};
/// The same file without a copy of the tensors. Throws std::invalid_argument if a tensor's pieces together
/// don't have the bytes of its shape.
Status writeSafetensors(const std::filesystem::path& path, std::vector<TensorPieces> tensors,
                        const std::map<std::string, std::string>& metadata);

/// Floating-point values as float: F32, F16, BF16 and F64 (F64 rounds; beyond float's range is an
/// error). The error names `name`, what was found and what was expected.
Result<std::vector<float>> toFloats(const NamedTensor& tensor, const std::string& name);
/// The same for a part of a tensor: `bytes` of `dtype` into as many `values`. Throws std::invalid_argument
/// if there are not as many.
Status convertToFloats(DType dtype, std::span<const std::uint8_t> bytes, std::span<float> values,
                       const std::string& name);
NamedTensor fromFloats(std::span<const float> values, std::vector<std::uint64_t> shape);

/// Product of `shape` times the size of one value; nothing if that overflows 64 bits.
std::optional<std::uint64_t> byteExtent(DType dtype, const std::vector<std::uint64_t>& shape);

/// "[3, 64, 48]".
std::string shapeText(const std::vector<std::uint64_t>& shape);

}  // namespace headscope::attention
