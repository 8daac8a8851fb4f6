#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attention/text/unicode.h"

namespace headscope::attention {

// Character classes used by tokenizers, based on Unicode's general categories.

/// Category P*, or one of ASCII's !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~.
bool isTokenizerPunctuation(char32_t c);
/// Category N*: digits, letter numbers, fractions.
bool isNumeric(char32_t c);
/// Category Mn.
bool isNonspacingMark(char32_t c);
/// Category M*.
bool isMark(char32_t c);
/// Categories Cc, Cf, Cs and Co: control, format, surrogate and private-use characters, but not unassigned
/// ones.
bool isOther(char32_t c);
/// \w of regular expressions (Unicode Technical Standard 18): letters, marks, decimal digits, connectors,
/// joiners.
bool isRegexWord(char32_t c);
/// The blocks of Han ideographs that BERT surrounds with spaces.
bool isBertIdeograph(char32_t c);

/// Appends the lower case of `c`.
void appendLowerCase(char32_t c, std::string& text);

/// Calls visit(code point, begin, end) for every character of well-formed `text`.
template <class Visit>
void eachCharacter(std::string_view text, Visit visit) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const DecodedCodePoint c = byte < 0x80 ? DecodedCodePoint{byte} : decodeUtf8(text, at);
    visit(c.value, at, at + c.length);
    at += c.length;
  }
}

}  // namespace headscope::attention
