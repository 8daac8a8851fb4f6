#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headscope::app {

// Debian's Dear ImGui edits text as 16-bit characters and would turn an emoji into a replacement mark for
// good. So that the person's text stays whole, characters beyond U+FFFF travel through its editor as
// stand-ins from the private use area and come back as themselves.

/// Which character each stand-in stands for. There is room for 6,400.
class StandIns {
 public:
  /// The stand-in for a character beyond U+FFFF; other characters as they are.
  std::uint32_t editableCharacter(std::uint32_t codepoint);
  /// Text for the editor, and the person's text again. fromEditable(toEditable(text)) == text.
  std::string toEditable(std::string_view text);
  std::string fromEditable(std::string_view text) const;

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> byCharacter_;
  std::vector<std::uint32_t> characters_;  ///< in the order of their stand-ins
};

/// With the stand-ins of the current ImGui context.
std::string toEditable(std::string_view text);
std::string fromEditable(std::string_view text);

/// Appends a code point as UTF-8.
void appendUtf8(std::string& out, std::uint32_t codepoint);

/// Calls `visit` with every code point and its bytes; the text is valid UTF-8, or at least never read past
/// its end.
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
