// The C library of Windows that MinGW uses knows no UTF-8, so libstdc++ would read a path from text byte by
// byte. These functions, by which libstdc++ reads it, take the place of MinGW's and always read UTF-8. The
// manifest sees to all that takes text itself, such as fopen().

#include <cstdint>
#include <cwchar>

namespace {

constexpr std::size_t kDamaged = static_cast<std::size_t>(-1), kIncomplete = static_cast<std::size_t>(-2);

std::mbstate_t shared;  // of callers that have none

/// How many bytes a character has by its first one; 0 for a byte that starts none.
std::size_t lengthBy(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

}  // namespace

extern "C" std::size_t mbrtowc(wchar_t* to, const char* from, std::size_t bytes, std::mbstate_t* state) {
  if (!state) state = &shared;
  if (!from) return 0;
  if (bytes == 0) return kIncomplete;
  wchar_t unused;
  wchar_t& unit = to ? *to : unused;
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(from[i]); };
  if (*state != 0) {  // the second half of a pair, whose last byte is still there
    unit = static_cast<wchar_t>(*state);
    *state = 0;
    return 1;
  }
  const std::size_t length = lengthBy(at(0));
  if (length == 0) return kDamaged;
  std::uint32_t code = length == 1 ? at(0) : at(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (i == bytes) return kIncomplete;
    if ((at(i) & 0xC0) != 0x80) return kDamaged;
    code = code << 6 | (at(i) & 0x3F);
  }
  if (code < 0x10000) {
    unit = static_cast<wchar_t>(code);
    return code == 0 ? 0 : length;
  }
  unit = static_cast<wchar_t>(0xD800 + ((code - 0x10000) >> 10));
  *state = static_cast<std::mbstate_t>(0xDC00 + (code & 0x3FF));
  return length - 1;
}

extern "C" std::size_t mbrlen(const char* from, std::size_t bytes, std::mbstate_t* state) {
  return mbrtowc(nullptr, from, bytes, state);
}

extern "C" std::size_t mbsrtowcs(wchar_t* to, const char** from, std::size_t units, std::mbstate_t* state) {
  constexpr std::size_t kLongest = 4;
  const char* at = *from;
  for (std::size_t made = 0; !to || made < units; ++made) {
    wchar_t unit = 0;
    const std::size_t used = mbrtowc(&unit, at, kLongest, state);
    if (used >= kIncomplete) return kDamaged;
    if (to) to[made] = unit;
    if (used == 0) {
      if (to) *from = nullptr;
      return made;
    }
    at += used;
  }
  *from = at;
  return units;
}
