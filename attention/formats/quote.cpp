#include "attention/formats/quote.h"

namespace headscope::attention {

std::string quotedText(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  constexpr char kDigits[] = "0123456789abcdef";
  std::size_t length = text.size();
  if (length > kLongest) {
    length = kLongest;
    // Not in the middle of a UTF-8 sequence.
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  }
  std::string out = "\"";
  for (const char c : text.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + (length < text.size() ? "…\"" : "\"");
}

}  // namespace headscope::attention
