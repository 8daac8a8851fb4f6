#include "attention/models/tokenizer/utf8_repair.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

/// The number of bytes at the front of `bytes`, which begin no whole character, that could begin one; at
/// least 1.
std::size_t brokenLength(std::string_view bytes) {
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
  };
  const unsigned lead = byte(0), second = byte(1);
  const std::size_t length = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 : 0;
  if (length == 0) return 1;
  // No overlong forms, surrogates, or values above U+10FFFF.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high) return 1;
  std::size_t at = 2;
  while (at < length - 1 && (byte(at) & 0xC0) == 0x80) ++at;
  return at;
}

}  // namespace

std::string repairedUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const DecodedCodePoint c = decodeUtf8(bytes, at);
    const std::size_t length = c.fault ? brokenLength(bytes.substr(at)) : c.length;
    text += c.fault ? std::string_view("\xEF\xBF\xBD") : bytes.substr(at, length);
    at += length;
  }
  return text;
}

std::size_t unfinishedLength(std::string_view bytes) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(3, bytes.size()); ++length) {
    const std::string_view end = bytes.substr(bytes.size() - length);
    const auto lead = static_cast<unsigned char>(end[0]);
    if ((lead & 0xC0) == 0x80) continue;
    const std::size_t whole = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    // A lone lead byte can begin a character, and so can any maximal prefix of one.
    const bool begins = lead >= 0xC2 && lead <= 0xF4 && length < whole;
    return begins && (length == 1 || brokenLength(end) == length) ? length : 0;
  }
  return 0;
}

std::string readableBytes(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const DecodedCodePoint c = decodeUtf8(bytes, at);
    if (c.fault) {
      text += fmt::format("<{:02X}>", static_cast<unsigned char>(bytes[at]));
    } else if (c.value == ' ') {
      text += "␣";
    } else if (isControl(c.value) || isInvisible(c.value) || isSpace(c.value)) {
      text += fmt::format("<{:02X}>", static_cast<std::uint32_t>(c.value));
    } else {
      text += bytes.substr(at, c.length);
    }
    at += c.length;
  }
  return text;
}

}  // namespace headscope::attention
