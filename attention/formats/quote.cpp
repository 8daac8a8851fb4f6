#include "attention/formats/quote.h"

#include <utf8proc.h>

namespace headscope::attention {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

/// Whether a terminal interprets the character: controls, direction marks and overrides (UAX #9), line and
/// paragraph separators.
bool steers(utf8proc_int32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/// Calls visit(character, its bytes) for each character, with -1 for a byte that isn't UTF-8.
template <class Visit>
void eachOf(std::string_view text, Visit visit) {
  while (!text.empty()) {
    utf8proc_int32_t code = -1;
    const auto read = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
    const std::size_t length = read > 0 ? static_cast<std::size_t>(read) : 1;
    visit(read > 0 ? code : -1, text.substr(0, length));
    text.remove_prefix(length);
  }
}

/// Appends `text`, with a backslash before each character of `escaped`.
void append(std::string_view text, std::string_view escaped, std::string& out) {
  eachOf(text, [&](utf8proc_int32_t code, std::string_view bytes) {
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (steers(code)) {
        out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      } else {
        if (escaped.find(c) != std::string_view::npos) out += '\\';
        out += c;
      }
    }
  });
}

}  // namespace

std::string escapedText(std::string_view text) {
  std::string out;
  append(text, "", out);
  return out;
}

std::string escapedJson(std::string_view json) {
  constexpr utf8proc_int32_t kReplacement = 0xFFFD;
  std::string out;
  eachOf(json, [&](utf8proc_int32_t code, std::string_view bytes) {
    const utf8proc_int32_t c = code < 0 ? kReplacement : code;
    if (code >= 0 && (c == '\n' || !steers(c))) return void(out += bytes);
    out += {'\\', 'u', kDigits[c >> 12 & 15], kDigits[c >> 8 & 15], kDigits[c >> 4 & 15], kDigits[c & 15]};
  });
  return out;
}

std::string quotedText(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::size_t length = text.size();
  if (length > kLongest) {
    length = kLongest;
    // Don't cut inside a UTF-8 sequence.
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
  }
  std::string out = "\"";
  append(text.substr(0, length), "\"\\", out);
  return out + (length < text.size() ? "…\"" : "\"");
}

}  // namespace headscope::attention
