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
/// What Unicode calls default ignorable: joiners, direction marks, byte-order mark, variation selectors.
bool isInvisible(char32_t c);
/// Letters, digits, marks and connectors such as the underscore, in any script.
bool isWordCharacter(char32_t c);
/// Han, kana and bopomofo, which are written without spaces. To be asked of word characters.
bool isIdeograph(char32_t c);
/// Sentence punctuation, quotes, brackets, dashes and slashes.
bool isPunctuation(char32_t c);

/// Columns that a terminal gives a character: 0 for marks, 2 for ideographs and emoji.
std::size_t columnsOf(char32_t c);

/// Unicode's full case folding: texts that differ in case alone become equal ("STRASSE" and "straße", too).
/// A text that is not UTF-8 stays as it is.
std::string foldCase(std::string_view text);

/// The end of the user-perceived character that starts at `at` in well-formed `text`: an extended grapheme
/// cluster (Unicode Standard Annex 29), but for spaces and invisible characters, which stand alone.
std::size_t clusterEnd(std::string_view text, std::size_t at);

}  // namespace headscope::attention
