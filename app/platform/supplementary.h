#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::app {

// Debian's Dear ImGui edits text as 16-bit characters and would turn an emoji into a replacement mark for
// good. So that the person's text stays whole, characters beyond U+FFFF travel through its editor as
// stand-ins from the private use area and come back as themselves. Main thread alone.

/// The stand-in for a character beyond U+FFFF; other characters as they are.
std::uint32_t editableCharacter(std::uint32_t codepoint);
/// Text for the editor, and the person's text again. fromEditable(toEditable(text)) == text.
std::string toEditable(std::string_view text);
std::string fromEditable(std::string_view text);

/// Appends a code point as UTF-8.
void appendUtf8(std::string& out, std::uint32_t codepoint);

}  // namespace headscope::app
