#include "attention/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace headscope::attention {
namespace {

const utf8proc_uint8_t* unsignedBytes(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

utf8proc_category_t categoryOf(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

/// Returns why `text` doesn't begin with a code point.
const char* faultOf(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0xC0) return "continues a character that never began";
  if (lead >= 0xF8) return "never occurs in UTF-8";
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t k = 1; k < length; ++k)
    if (k >= text.size() || (byte(k) & 0xC0) != 0x80) return "begins an incomplete character";
  if (lead < 0xC2 || (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90))
    return "begins an overlong form";
  return lead == 0xED ? "begins a surrogate" : "begins a value above U+10FFFF";
}

}  // namespace

DecodedCodePoint decodeUtf8(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  utf8proc_int32_t value = 0;
  const utf8proc_ssize_t length = utf8proc_iterate(unsignedBytes(rest), std::ssize(rest), &value);
  if (length <= 0) return {0, 1, faultOf(rest)};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(length), nullptr};
}

void appendUtf8(char32_t c, std::string& text) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(bytes.begin(), bytes.begin() + length);
}

bool isControl(char32_t c) {
  return categoryOf(c) == UTF8PROC_CATEGORY_CC;
}

bool isSpace(char32_t c) {
  const utf8proc_category_t category = categoryOf(c);
  return (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP) || (c >= 0x09 && c <= 0x0D) ||
         c == 0x85;
}

bool isInvisible(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->ignorable;
}

bool isWordCharacter(char32_t c) {
  // Relies on the order of the enumeration: letters, marks, numbers, connectors. Other numbers (NO:
  // fractions, superscripts and the like) are separate tokens.
  const utf8proc_category_t category = categoryOf(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_PC &&
         category != UTF8PROC_CATEGORY_NO;
}

bool isIdeograph(char32_t c) {
  // utf8proc has no script data.
  struct Blocks {
    char32_t first, last;
  };
  constexpr Blocks kBlocks[] = {{0x2E80, 0x312F}, {0x31A0, 0x31FF},   {0x3400, 0x9FFF},  {0xF900, 0xFAFF},
                                {0xFF66, 0xFF9D}, {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFF}};
  return std::ranges::any_of(kBlocks, [c](const Blocks& b) { return b.first <= c && c <= b.last; });
}

bool isPunctuation(char32_t c) {
  // Unicode classifies these as punctuation, but they stand for words and separate nothing.
  constexpr std::u32string_view kSigns = U"#%&*@§¶";
  const utf8proc_category_t category = categoryOf(c);
  return category >= UTF8PROC_CATEGORY_PD && category <= UTF8PROC_CATEGORY_PO &&
         kSigns.find(c) == std::u32string_view::npos;
}

std::size_t columnsOf(char32_t c) {
  return static_cast<std::size_t>(utf8proc_charwidth(static_cast<utf8proc_int32_t>(c)));
}

std::string foldCase(std::string_view text) {
  utf8proc_uint8_t* folded = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(unsignedBytes(text), std::ssize(text), &folded, UTF8PROC_CASEFOLD);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(folded, &std::free);
  return length < 0 ? std::string(text) : std::string(folded, folded + length);
}

std::size_t clusterEnd(std::string_view text, std::size_t at) {
  DecodedCodePoint last = decodeUtf8(text, at);
  std::size_t end = at + last.length;
  if (isSpace(last.value) || isInvisible(last.value)) return end;
  utf8proc_int32_t state = 0;
  while (end < text.size()) {
    const DecodedCodePoint next = decodeUtf8(text, end);
    if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.value),
                                         static_cast<utf8proc_int32_t>(next.value), &state))
      break;
    end += next.length;
    last = next;
  }
  return end;
}

}  // namespace headscope::attention
