#include "attention/models/tokenizer/characters.h"

#include <utf8proc.h>

#include <algorithm>

namespace headscope::attention {
namespace {

utf8proc_category_t generalCategory(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

struct Block {
  char32_t first, last;
};

bool isIn(std::initializer_list<Block> blocks, char32_t c) {
  return std::any_of(blocks.begin(), blocks.end(),
                     [c](const Block& block) { return block.first <= c && c <= block.last; });
}

}  // namespace

bool isTokenizerPunctuation(char32_t c) {
  if (c < 0x80) return isIn({{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, c);
  const utf8proc_category_t category = generalCategory(c);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool isNumeric(char32_t c) {
  const utf8proc_category_t category = generalCategory(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool isNonspacingMark(char32_t c) {
  return generalCategory(c) == UTF8PROC_CATEGORY_MN;
}

bool isMark(char32_t c) {
  const utf8proc_category_t category = generalCategory(c);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool isOther(char32_t c) {
  switch (generalCategory(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return true;
    default:
      return false;
  }
}

bool isRegexWord(char32_t c) {
  // In the enumeration's order: letters, marks, decimal digits, letter numbers.
  const utf8proc_category_t category = generalCategory(c);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) return true;
  // Circled and squared letters are alphabetic but not letters.
  return category == UTF8PROC_CATEGORY_PC ||
         isIn(
             {{0x200C, 0x200D}, {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}},
             c);
}

bool isBertIdeograph(char32_t c) {
  return isIn({{0x4E00, 0x9FFF},
               {0x3400, 0x4DBF},
               {0x20000, 0x2A6DF},
               {0x2A700, 0x2B73F},
               {0x2B740, 0x2B81F},
               {0x2B920, 0x2CEAF},
               {0xF900, 0xFAFF},
               {0x2F800, 0x2FA1F}},
              c);
}

void appendLowerCase(char32_t c, std::string& text) {
  constexpr char32_t kCapitalIWithDot = 0x130;
  // The one character whose lower case is two: i and a dot above (SpecialCasing.txt).
  if (c == kCapitalIWithDot) return void(text += "i\xCC\x87");
  appendUtf8(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))), text);
}

}  // namespace headscope::attention
