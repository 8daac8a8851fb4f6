#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope::attention {

/// The result of decoding one code point. `fault` says what is wrong with the bytes; null if they are valid.
struct DecodedCodePoint {
  char32_t value = 0;
  std::size_t length = 1;
  const char* fault = nullptr;
};

/// Decodes the code point that starts at byte `at` of `text`; at < text.size().
DecodedCodePoint decodeUtf8(std::string_view text, std::size_t at);
void appendUtf8(char32_t codePoint, std::string& text);

/// C0 and C1 control characters, including delete.
bool isControl(char32_t c);
/// Spaces and line and paragraph separators, whether or not they have a width.
bool isSpace(char32_t c);
/// Unicode's default ignorable code points: joiners, direction marks, byte-order mark, variation selectors.
bool isInvisible(char32_t c);
/// Letters, digits, marks and connectors such as the underscore, in any script.
bool isWordCharacter(char32_t c);
/// Han, kana and bopomofo, which are written without spaces. Only meaningful for word characters.
bool isIdeograph(char32_t c);
/// Sentence punctuation, quotes, brackets, dashes and slashes.
bool isPunctuation(char32_t c);

/// Returns the terminal columns a character takes: 0 for marks, 2 for ideographs and emoji.
std::size_t columnsOf(char32_t c);

/// Applies Unicode's full case folding, so texts that differ only in case become equal ("STRASSE" and
/// "straße", too). Returns text that isn't UTF-8 unchanged.
std::string foldCase(std::string_view text);

/// Returns the end of the user-perceived character that starts at `at` in well-formed `text`: an extended
/// grapheme cluster (Unicode Standard Annex 29), except that spaces and invisible characters are always
/// separate.
std::size_t clusterEnd(std::string_view text, std::size_t at);

}  // namespace headscope::attention
