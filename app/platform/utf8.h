#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::app {

/// Appends a code point as UTF-8.
void appendUtf8(std::string& out, std::uint32_t codepoint);

/// Calls `visit` with every code point and its bytes. Expects valid UTF-8, but never reads past the end.
template <typename Visit>
void eachCodepoint(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + length > text.size()) length = text.size() - at;
    std::uint32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
    for (std::size_t i = 1; i < length; ++i)
      code = (code << 6) | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
    visit(code, text.substr(at, length));
    at += length;
  }
}

}  // namespace headscope::app
