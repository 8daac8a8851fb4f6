#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attention/text/unicode.h"

namespace headscope::attention {

// Classes of characters as tokenizers ask for them, after Unicode's general categories.

/// A category of punctuation, P*, or one of ASCII's !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~.
bool isTokenizerPunctuation(char32_t c);
/// N*: digits, letters that are numbers, fractions.
bool isNumeric(char32_t c);
/// Mn.
bool isNonspacingMark(char32_t c);
/// M*.
bool isMark(char32_t c);
/// Cc, Cf, Cs and Co: controls, format characters, surrogates and private use, but not what is unassigned.
bool isOther(char32_t c);
/// \w of regular expressions (Unicode Technical Standard 18): letters, marks, decimal digits, connectors,
/// joiners.
bool isRegexWord(char32_t c);
/// The blocks of Han ideographs that BERT sets apart with spaces.
bool isBertIdeograph(char32_t c);

/// Adds the lower case of `c`.
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
