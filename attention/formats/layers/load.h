#pragma once

#include <cstdint>
#include <cstring>

namespace headscope::attention {

/// A number as it lies in a file, wherever that is.
template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace headscope::attention
