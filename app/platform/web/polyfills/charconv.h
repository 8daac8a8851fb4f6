#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <type_traits>

namespace headscope::stand_in {

// std::from_chars and std::to_chars for floating-point numbers, which Emscripten's libc++ 13 lacks. Based on
// strtod and printf, in the "C" locale.

/// Returns the end of the digits from `at` on. Sets `any` if there are any, and `nonzero` if one isn't 0.
inline const char* digitsEnd(const char* at, const char* last, bool& any, bool& nonzero) {
  for (; at != last && *at >= '0' && *at <= '9'; ++at) {
    any = true;
    nonzero = nonzero || *at != '0';
  }
  return at;
}

/// Returns the end of "inf", "infinity" or "nan" in any case; `at` if there is none.
inline const char* wordEnd(const char* at, const char* last) {
  for (const char* word : {"infinity", "inf", "nan"}) {
    const char* end = at;
    for (; *word && end != last && (*end | 0x20) == *word; ++word) ++end;
    if (!*word) return end;
  }
  return at;
}

/// Returns the end of the longest number in that format at `first`; `first` if there is none.
inline const char* numberEnd(const char* first, const char* last, std::chars_format format, bool& nonzero) {
  const char* at = first != last && *first == '-' ? first + 1 : first;
  if (const char* end = wordEnd(at, last); end != at) return nonzero = true, end;
  bool any = false;
  at = digitsEnd(at, last, any, nonzero);
  if (at != last && *at == '.') {
    const bool before = any;
    const char* const end = digitsEnd(at + 1, last, any, nonzero);
    if (any || before) at = end;
  }
  if (!any) return first;
  const bool mayHave = (format & std::chars_format::scientific) == std::chars_format::scientific;
  const bool needs = format == std::chars_format::scientific;
  if (!mayHave) return at;
  if (at == last || (*at | 0x20) != 'e') return needs ? first : at;
  const char* exponent = at + 1;
  if (exponent != last && (*exponent == '-' || *exponent == '+')) ++exponent;
  bool digits = false, ignored = false;
  exponent = digitsEnd(exponent, last, digits, ignored);
  return digits ? exponent : needs ? first : at;
}

/// Fails like std::from_chars: invalid_argument, or result_out_of_range with `value` unchanged.
template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
std::from_chars_result from_chars(const char* first, const char* last, T& value,
                                  std::chars_format format = std::chars_format::general) {
  bool nonzero = false;
  const char* const end = numberEnd(first, last, format, nonzero);
  if (end == first) return {first, std::errc::invalid_argument};
  const std::string text(first, end);
  const T read = std::is_same_v<T, float> ? static_cast<T>(std::strtof(text.c_str(), nullptr))
                                          : static_cast<T>(std::strtod(text.c_str(), nullptr));
  const bool word = (text.back() | 0x20) > 'e';  // from "inf", "infinity" or "nan"
  if (!word && ((read == 0 && nonzero) || std::isinf(read))) return {end, std::errc::result_out_of_range};
  value = read;
  return {end, std::errc()};
}

inline std::to_chars_result copyChars(char* first, char* last, const char* text) {
  const std::size_t length = std::strlen(text);
  if (static_cast<std::size_t>(last - first) < length) return {last, std::errc::value_too_large};
  std::memcpy(first, text, length);
  return {first + length, std::errc()};
}

/// Writes like printf's %g with that precision. Supports only std::chars_format::general.
template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
std::to_chars_result to_chars(char* first, char* last, T value, std::chars_format, int precision) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", precision, static_cast<double>(value));
  return copyChars(first, last, text);
}

/// Writes the fewest digits that read back as the same value, in fixed or scientific form, whichever is
/// shorter.
template <typename T, typename = std::enable_if_t<std::is_floating_point_v<T>>>
std::to_chars_result to_chars(char* first, char* last, T value) {
  const double wide = static_cast<double>(value);
  if (!std::isfinite(value)) {
    const char* const word = std::isnan(value) ? "nan" : "inf";
    return copyChars(first, last, (std::signbit(value) ? "-" + std::string(word) : word).c_str());
  }
  char scientific[64], fixed[512];
  constexpr int kMax = 17;
  int precision = 0;
  for (T back = 0; precision <= kMax; ++precision) {
    std::snprintf(scientific, sizeof scientific, "%.*e", precision, wide);
    if (from_chars(scientific, scientific + std::strlen(scientific), back); back == value) break;
  }
  const int exponent = std::atoi(std::strchr(scientific, 'e') + 1);
  std::snprintf(fixed, sizeof fixed, "%.*f", precision > exponent ? precision - exponent : 0, wide);
  return copyChars(first, last, std::strlen(fixed) <= std::strlen(scientific) ? fixed : scientific);
}

}  // namespace headscope::stand_in
