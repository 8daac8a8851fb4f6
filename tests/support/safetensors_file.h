#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"

// Whole safetensors files in memory. The program maps files or reads the tensors that it needs.
namespace headscope::test {

/// Parses a file. Messages are prefixed by `name`.
inline attention::Result<attention::SafetensorsFile> parseSafetensors(std::span<const std::uint8_t> bytes,
                                                                      const std::string& name) {
  const auto headerSize = attention::safetensorsHeaderSize(bytes, bytes.size(), name);
  if (!headerSize) return headerSize.error();
  const auto start = bytes.subspan(attention::kHeaderLengthBytes), data = start.subspan(*headerSize);
  auto header = attention::parseSafetensorsHeader({reinterpret_cast<const char*>(start.data()), *headerSize},
                                                  data.size(), name);
  if (!header) return header.error();
  attention::SafetensorsFile file;
  file.metadata = std::move(header->metadata);
  for (auto& [tensor, entry] : header->tensors) {
    const auto part = data.subspan(entry.begin, entry.end - entry.begin);
    file.tensors[tensor] = {entry.dtype, std::move(entry.shape), {part.begin(), part.end()}};
  }
  return file;
}

inline attention::Result<attention::SafetensorsFile> readSafetensors(const std::filesystem::path& path) {
  const auto bytes = attention::readFile(path);
  if (!bytes) return bytes.error();
  return parseSafetensors(*bytes, attention::shownPath(path));
}

/// All values of a tensor; an Error, with `name`, as of convertToFloats().
inline attention::Result<std::vector<float>> toFloats(const attention::NamedTensor& tensor,
                                                      const std::string& name) {
  std::vector<float> values(tensor.bytes.size() / attention::byteSize(tensor.dtype));
  if (const auto status = attention::convertToFloats(tensor.dtype, tensor.bytes, values, name); !status)
    return status.error();
  return values;
}

}  // namespace headscope::test
