#pragma once

#include <type_traits>

namespace headscope::stand_in {

/// std::bit_cast of C++20, which Emscripten's libc++ 13 lacks.
template <typename To, typename From,
          typename = std::enable_if_t<sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<From> &&
                                      std::is_trivially_copyable_v<To>>>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

}  // namespace headscope::stand_in
