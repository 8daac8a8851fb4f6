#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headscope::attention {

// Helpers for ASCII bytes, as in a language or file format. For text that people write, see unicode.h.

constexpr bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr char lowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = lowerCase(c);
  return lower;
}

/// Returns "; did you mean window?" for the closest of `names` to a misspelt word. Returns "" if none is
/// close: if more than a third of the letters (at least one) would have to be inserted, deleted, changed or
/// swapped with a neighbour. Also "" for words longer than 32 bytes.
std::string suggestion(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace headscope::attention
