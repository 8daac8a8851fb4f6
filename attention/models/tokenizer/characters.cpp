#include "attention/models/tokenizer/characters.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <numeric>

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

namespace {

/// Bytes that are printable in Latin-1 represent themselves; the others are U+0100 and up, in order.
constexpr bool isPrintable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::size_t kCharacters = 0x100 + 68;  // 68 bytes are not printable

struct Table {
  std::array<char16_t, 256> character{};
  std::array<short, kCharacters> byte{};
};

constexpr Table makeTable() {
  Table table;
  table.byte.fill(-1);
  char16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const auto c = isPrintable(byte) ? static_cast<char16_t>(byte) : next++;
    table.character[byte] = c;
    table.byte[c] = static_cast<short>(byte);
  }
  return table;
}

constexpr Table kByteCharacters = makeTable();

}  // namespace

void appendByteCharacter(unsigned char byte, std::string& text) {
  const char16_t c = kByteCharacters.character[byte];
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else {
    text += static_cast<char>(0xC0 | (c >> 6));
    text += static_cast<char>(0x80 | (c & 0x3F));
  }
}

void appendSpelledBytes(std::string_view spelled, std::string& bytes) {
  const std::size_t before = bytes.size();
  bool known = true;
  eachCharacter(spelled, [&](char32_t c, std::size_t, std::size_t) {
    known = known && c < kCharacters && kByteCharacters.byte[c] >= 0;
    if (known) bytes += static_cast<char>(kByteCharacters.byte[c]);
  });
  if (known) return;
  bytes.resize(before);
  bytes += spelled;
}

namespace {

/// The number of bytes at the front of `bytes`, which begin no whole character, that could begin one; at
/// least 1.
std::size_t brokenLength(std::string_view bytes) {
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
  };
  const unsigned lead = byte(0), second = byte(1);
  const std::size_t length = lead >= 0xF0 && lead <= 0xF4 ? 4 : lead >= 0xE0 && lead < 0xF0 ? 3 : 0;
  if (length == 0) return 1;
  // No overlong forms, surrogates, or values above U+10FFFF.
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < low || second > high) return 1;
  std::size_t at = 2;
  while (at < length - 1 && (byte(at) & 0xC0) == 0x80) ++at;
  return at;
}

}  // namespace

std::string repairedUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const DecodedCodePoint c = decodeUtf8(bytes, at);
    const std::size_t length = c.fault ? brokenLength(bytes.substr(at)) : c.length;
    text += c.fault ? std::string_view("\xEF\xBF\xBD") : bytes.substr(at, length);
    at += length;
  }
  return text;
}

std::size_t unfinishedLength(std::string_view bytes) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(3, bytes.size()); ++length) {
    const std::string_view end = bytes.substr(bytes.size() - length);
    const auto lead = static_cast<unsigned char>(end[0]);
    if ((lead & 0xC0) == 0x80) continue;
    const std::size_t whole = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    // A lone lead byte can begin a character, and so can any maximal prefix of one.
    const bool begins = lead >= 0xC2 && lead <= 0xF4 && length < whole;
    return begins && (length == 1 || brokenLength(end) == length) ? length : 0;
  }
  return 0;
}

std::string readableBytes(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const DecodedCodePoint c = decodeUtf8(bytes, at);
    if (c.fault) {
      text += fmt::format("<{:02X}>", static_cast<unsigned char>(bytes[at]));
    } else if (c.value == ' ') {
      text += "␣";
    } else if (isControl(c.value) || isInvisible(c.value) || isSpace(c.value)) {
      text += fmt::format("<{:02X}>", static_cast<std::uint32_t>(c.value));
    } else {
      text += bytes.substr(at, c.length);
    }
    at += c.length;
  }
  return text;
}

AlignedText::AlignedText(std::string_view typed, ByteRange range)
    : text_(typed.substr(range.begin, range.end - range.begin)),
      origins_(text_.size()),
      end_(static_cast<std::uint32_t>(range.end)),
      most_(mostRewritten(text_.size())) {
  std::iota(origins_.begin(), origins_.end(), static_cast<std::uint32_t>(range.begin));
}

AlignedText::AlignedText(const AlignedText& text, ByteRange range) : most_(text.most_) {
  append(text, range);
}

AlignedText AlignedText::rewriting(const AlignedText& text) {
  AlignedText result;
  result.most_ = text.most_;
  result.text_.reserve(text.size());
  result.origins_.reserve(text.size());
  return result;
}

bool AlignedText::hasRoom(std::size_t bytes) {
  tooLong_ = tooLong_ || bytes > most_ - text_.size();
  return !tooLong_;
}

void AlignedText::append(std::string_view written, const AlignedText& from, ByteRange range) {
  if (!hasRoom(written.size())) return;
  text_ += written;
  for (std::size_t i = 0; i < written.size(); ++i)
    origins_.push_back(static_cast<std::uint32_t>(from.origin(std::min(range.begin + i, range.end))));
  end_ = static_cast<std::uint32_t>(from.origin(range.end));
}

void AlignedText::append(const AlignedText& from, ByteRange range) {
  if (!hasRoom(range.end - range.begin)) return;
  text_.append(from.text_, range.begin, range.end - range.begin);
  origins_.insert(origins_.end(), from.origins_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                  from.origins_.begin() + static_cast<std::ptrdiff_t>(range.end));
  end_ = static_cast<std::uint32_t>(from.origin(range.end));
}

Error tooLongRewritten(std::size_t most) {
  return Error{fmt::format("the tokenizer's rules make the text longer than {} bytes", most)};
}

Status AlignedText::checkLength() const {
  if (!tooLong_) return success();
  return tooLongRewritten(most_);
}

void splitRange(ByteRange whole, std::span<const ByteRange> matches, SplitBehaviour behaviour, bool invert,
                std::vector<ByteRange>& pieces) {
  const auto first = static_cast<std::ptrdiff_t>(pieces.size());
  std::optional<bool> before;  // whether the part before counts as a match
  // A part may belong to the same piece as the one before.
  const auto joins = [&](bool isMatch) {
    if (behaviour == SplitBehaviour::mergedWithPrevious) return isMatch && !*before;
    if (behaviour == SplitBehaviour::mergedWithNext) return *before && !isMatch;
    return behaviour == SplitBehaviour::contiguous && *before == isMatch;
  };
  const auto add = [&](ByteRange part, bool isMatch) {
    if (behaviour == SplitBehaviour::removed && isMatch) return;
    if (before && joins(isMatch))
      pieces.back().end = part.end;
    else
      pieces.push_back(part);
    before = isMatch;
  };
  std::size_t at = whole.begin;
  for (const ByteRange& match : matches) {
    const ByteRange found{whole.begin + match.begin, whole.begin + match.end};
    if (at < found.begin) add({at, found.begin}, invert);
    add(found, !invert);
    at = found.end;
  }
  if (at < whole.end) add({at, whole.end}, invert);
  const auto isEmpty = [](const ByteRange& range) { return range.begin == range.end; };
  pieces.erase(std::remove_if(pieces.begin() + first, pieces.end(), isEmpty), pieces.end());
}

}  // namespace headscope::attention
