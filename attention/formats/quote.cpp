#include "attention/formats/quote.h"

#include <utf8proc.h>

namespace headscope::attention {
namespace {

/// Appends `text`, with a backslash before each of `escaped`.
void append(std::string_view text, std::string_view escaped, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  while (!text.empty()) {
    utf8proc_int32_t code = -1;
    const auto read = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
    const std::size_t length = read > 0 ? static_cast<std::size_t>(read) : 1;
    const bool control = read <= 0 || code < 0x20 || (code >= 0x7F && code < 0xA0);
    for (const char c : text.substr(0, length)) {
      const auto byte = static_cast<unsigned char>(c);
      if (control) {
        out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      } else {
        if (escaped.find(c) != std::string_view::npos) out += '\\';
        out += c;
      }
    }
    text.remove_prefix(length);
  }
}

}  // namespace

std::string escapedText(std::string_view text) {
  std::string out;
  append(text, "", out);
  return out;
}

std::string quotedText(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::size_t length = text.size();
  if (length > kLongest) {
    length = kLongest;
    // Not in the middle of a UTF-8 sequence.
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  }
  std::string out = "\"";
  append(text.substr(0, length), "\"\\", out);
  return out + (length < text.size() ? "…\"" : "\"");
}

}  // namespace headscope::attention
