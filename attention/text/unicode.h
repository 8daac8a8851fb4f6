#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope::attention {

/// One step of decoding UTF-8. `fault` says what is wrong with the bytes here; null for a code point.
struct DecodedCodePoint {
  char32_t value = 0;
  std::size_t length = 1;
  const char* fault = nullptr;
};

/// The code point that starts at byte `at` of `text`; at < text.size().
DecodedCodePoint decodeUtf8(std::string_view text, std::size_t at);
void appendUtf8(char32_t codePoint, std::string& text);

/// C0 and C1 controls and delete.
bool isControl(char32_t c);
/// Spaces and separators of lines and paragraphs, with or without a width of their own.
bool isSpace(char32_t c);
/// Format characters that draw nothing: joiners, direction marks, byte-order mark, variation selectors.
bool isInvisible(char32_t c);
/// Marks that belong to the character before them: the common combining blocks, joiners, variation
/// selectors and emoji modifiers. A general treatment, not the full Unicode property.
bool isMark(char32_t c);
/// Letters, digits, marks and the underscore, in any script.
bool isWordCharacter(char32_t c);
/// Han, kana and bopomofo, which are written without spaces.
bool isIdeograph(char32_t c);
/// Sentence punctuation, quotes, brackets, dashes and slashes.
bool isPunctuation(char32_t c);
/// Emoji and other pictures, which a zero-width joiner can make into one.
bool isPictograph(char32_t c);

/// Lower case by code point, beyond ASCII where the C library knows the C.UTF-8 locale. Final sigma
/// becomes sigma, so that a word is the same word in capitals.
char32_t toLower(char32_t c);

/// The end of the user-perceived character that starts at `at` in well-formed `text`: a base with its
/// marks, a flag of two regional indicators, or pictures joined by zero-width joiners.
std::size_t clusterEnd(std::string_view text, std::size_t at);

}  // namespace headscope::attention
