#include "attention/models/tokenizer/byte_level.h"

#include <array>
#include <cstddef>

#include "attention/models/tokenizer/characters.h"

namespace headscope::attention {
namespace {

/// Bytes that are printable in Latin-1 represent themselves; the others are U+0100 and up, in order.
constexpr bool isPrintable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::size_t kCharacters = 0x100 + 68;  // 68 bytes are not printable

struct Table {
  std::array<char16_t, 256> character{};
  std::array<short, kCharacters> byte{};
};

constexpr Table makeTable() {
  Table table;
  table.byte.fill(-1);
  char16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto c = isPrintable(byte) ? static_cast<char16_t>(byte) : next++;
    table.character[byte] = c;
    table.byte[c] = static_cast<short>(byte);
  }
  return table;
}

constexpr Table kByteCharacters = makeTable();

}  // namespace

void appendByteCharacter(unsigned char byte, std::string& text) {
  const char16_t c = kByteCharacters.character[byte];
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else {
    text += static_cast<char>(0xC0 | (c >> 6));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
}

void appendSpelledBytes(std::string_view spelled, std::string& bytes) {
  const std::size_t before = bytes.size();
  bool known = true;
  eachCharacter(spelled, [&](char32_t c, std::size_t, std::size_t) {
    known = known && c < kCharacters && kByteCharacters.byte[c] >= 0;
    if (known) bytes += static_cast<char>(kByteCharacters.byte[c]);
  });
  if (known) return;
  bytes.resize(before);
  bytes += spelled;
}

}  // namespace headscope::attention
