#pragma once

namespace headscope::attention {

// Of the bytes of a language or a file; characters that people write are unicode.h's.

constexpr bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace headscope::attention
