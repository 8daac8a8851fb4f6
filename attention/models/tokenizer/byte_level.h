#pragma once

#include <string>
#include <string_view>

namespace headscope::attention {

// GPT-2's spelling of bytes: each of the 256 is one printable character ("Ġ" is a space, "Ċ" a line feed).

/// Appends the character for `byte`, one or two bytes of UTF-8.
void appendByteCharacter(unsigned char byte, std::string& text);

/// Appends the bytes that `spelled` stands for, or `spelled` itself if one of its characters stands for none.
void appendSpelledBytes(std::string_view spelled, std::string& bytes);

}  // namespace headscope::attention
