#pragma once

#include <cstdint>
#include <cstring>

namespace headscope::attention {

/// Reads a number from unaligned bytes.
template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace headscope::attention
