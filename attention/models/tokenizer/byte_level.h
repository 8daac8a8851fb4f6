#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

// GPT-2's way of spelling bytes: each of the 256 is one printable character ("Ġ" is a space, "Ċ" a line
// feed).

/// Adds the character that stands for `byte`, one or two bytes of UTF-8.
void appendByteCharacter(unsigned char byte, std::string& text);

/// Adds the bytes that `spelled` stands for; where one of its characters stands for none, its own bytes.
void appendSpelledBytes(std::string_view spelled, std::string& bytes);

}  // namespace headscope::attention
