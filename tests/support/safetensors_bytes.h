#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::test {

/// The bytes of a safetensors file, valid or not: the header's length, the header, the data.
inline std::vector<std::uint8_t> safetensorsBytes(std::string_view header,
                                                  const std::vector<std::uint8_t>& data,
                                                  std::uint64_t announcedLength) {
  std::vector<std::uint8_t> bytes(8 + header.size() + data.size());
  std::memcpy(bytes.data(), &announcedLength, 8);
  std::copy(header.begin(), header.end(), bytes.begin() + 8);
  std::copy(data.begin(), data.end(), bytes.end() - static_cast<std::ptrdiff_t>(data.size()));
  return bytes;
}
inline std::vector<std::uint8_t> safetensorsBytes(std::string_view header, std::size_t dataSize = 0) {
  return safetensorsBytes(header, std::vector<std::uint8_t>(dataSize), header.size());
}

}  // namespace headscope::test
