#include "attention/formats/base64.h"

#include <array>

namespace headscope::attention {
namespace {

constexpr std::array<std::string_view, 2> kAlphabets{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"};

constexpr std::string_view digitsOf(Base64 alphabet) {
  return kAlphabets[static_cast<std::size_t>(alphabet)];
}

}  // namespace

std::string toBase64(std::span<const std::uint8_t> bytes, Base64 alphabet) {
  const std::string_view digits = digitsOf(alphabet);
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (held += 8; held >= 6; held -= 6) out += digits[bits >> (held - 6) & 63];
  }
  if (held > 0) out += digits[bits << (6 - held) & 63];
  while (alphabet == Base64::standard && out.size() % 4 != 0) out += '=';
  return out;
}

std::optional<std::string> fromBase64(std::string_view text, Base64 alphabet) {
  if (alphabet == Base64::standard) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  const std::string_view digits = digitsOf(alphabet);
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char digit : text) {
    const std::size_t value = digits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 255);
  }
  return out;
}

}  // namespace headscope::attention
