#include "attention/text/unicode.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <span>

namespace headscope::attention {
namespace {

struct Range {
  char32_t first, last;
};

bool within(char32_t c, std::span<const Range> sorted) {
  const auto range = std::ranges::lower_bound(sorted, c, {}, &Range::last);
  return range != sorted.end() && range->first <= c;
}

constexpr Range kSpaces[] = {{0x09, 0x0D},     {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                             {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                             {0x205F, 0x205F}, {0x3000, 0x3000}};
constexpr Range kInvisible[] = {{0xAD, 0xAD},     {0x200B, 0x200F}, {0x202A, 0x202E},  {0x2060, 0x206F},
                                {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xE0000, 0xE0FFF}};
constexpr Range kMarks[] = {
    {0xAD, 0xAD},     {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},   {0x05BF, 0x05BF},
    {0x05C1, 0x05C2}, {0x05C4, 0x05C5}, {0x0610, 0x061A}, {0x064B, 0x065F},   {0x0670, 0x0670},
    {0x06D6, 0x06DC}, {0x0900, 0x0903}, {0x093A, 0x093C}, {0x093E, 0x094F},   {0x0981, 0x0983},
    {0x09BC, 0x09BC}, {0x09BE, 0x09CD}, {0x0E31, 0x0E31}, {0x0E34, 0x0E3A},   {0x0E47, 0x0E4E},
    {0x1160, 0x11FF}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200C, 0x200D},   {0x20D0, 0x20FF},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0x1F3FB, 0x1F3FF}, {0xE0020, 0xE01EF}};
constexpr Range kIdeographs[] = {{0x2E80, 0x2FDF},  {0x3005, 0x3007}, {0x3021, 0x3029}, {0x3031, 0x303C},
                                 {0x3041, 0x3096},  {0x309D, 0x309F}, {0x30A1, 0x30FA}, {0x30FC, 0x30FF},
                                 {0x3105, 0x312F},  {0x31A0, 0x31BF}, {0x31F0, 0x31FF}, {0x3400, 0x4DBF},
                                 {0x4E00, 0x9FFF},  {0xF900, 0xFAFF}, {0xFF66, 0xFF9D}, {0x1AFF0, 0x1B16F},
                                 {0x20000, 0x323AF}};
constexpr Range kPunctuation[] = {
    {0xA1, 0xA1},     {0xAB, 0xAB},     {0xB7, 0xB7},     {0xBB, 0xBB},     {0xBF, 0xBF},
    {0x037E, 0x037E}, {0x0387, 0x0387}, {0x055A, 0x055F}, {0x0589, 0x058A}, {0x05BE, 0x05BE},
    {0x05C0, 0x05C0}, {0x05C3, 0x05C3}, {0x060C, 0x060D}, {0x061B, 0x061F}, {0x06D4, 0x06D4},
    {0x0964, 0x0965}, {0x2010, 0x2027}, {0x2030, 0x205E}, {0x2E00, 0x2E5D}, {0x3001, 0x3003},
    {0x3008, 0x3011}, {0x3014, 0x301F}, {0x30FB, 0x30FB}, {0xFE10, 0xFE19}, {0xFE30, 0xFE6B},
    {0xFF01, 0xFF0F}, {0xFF1A, 0xFF20}, {0xFF3B, 0xFF3D}, {0xFF5B, 0xFF65}};
constexpr Range kPictographs[] = {{0xA9, 0xA9},     {0xAE, 0xAE},     {0x203C, 0x203C},
                                  {0x2049, 0x2049}, {0x2190, 0x2BFF}, {0x3030, 0x3030},
                                  {0x303D, 0x303D}, {0x3297, 0x3299}, {0x1F000, 0x1FAFF}};
constexpr std::string_view kAsciiPunctuation = "!\"'(),-./:;?[\\]{}";
constexpr char32_t kZeroWidthJoiner = 0x200D;

bool isRegionalIndicator(char32_t c) {
  return c >= 0x1F1E6 && c <= 0x1F1FF;
}

/// Null where the system has no such locale. Made once and kept, as every thread may be using it.
locale_t utf8Locale() {
  static const locale_t locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return locale;
}

bool isAsciiAlphanumeric(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// The number of bytes a lead byte announces and the bits it carries; 0 for a byte that cannot lead.
struct Lead {
  std::size_t length;
  char32_t bits;
};

Lead readLead(unsigned char byte) {
  if (byte < 0x80) return {1, byte};
  if (byte >= 0xC0 && byte < 0xE0) return {2, static_cast<char32_t>(byte & 0x1F)};
  if (byte >= 0xE0 && byte < 0xF0) return {3, static_cast<char32_t>(byte & 0x0F)};
  if (byte >= 0xF0 && byte < 0xF8) return {4, static_cast<char32_t>(byte & 0x07)};
  return {0, 0};
}

}  // namespace

DecodedCodePoint decodeUtf8(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto fault = [](const char* what) { return DecodedCodePoint{0, 1, what}; };
  const Lead lead = readLead(byte(at));
  if (lead.length == 0) {
    return fault(byte(at) < 0xC0 ? "continues a character that never began" : "never occurs in UTF-8");
  }
  char32_t value = lead.bits;
  for (std::size_t k = 1; k < lead.length; ++k) {
    if (at + k >= text.size() || (byte(at + k) & 0xC0) != 0x80)
      return fault("begins a character that breaks off");
    value = (value << 6) | (byte(at + k) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[lead.length]) return fault("begins an overlong form");
  if (value >= 0xD800 && value <= 0xDFFF) return fault("begins a surrogate");
  if (value > 0x10FFFF) return fault("begins a value above U+10FFFF");
  return {value, lead.length, nullptr};
}

void appendUtf8(char32_t c, std::string& text) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | (c >> 6));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

bool isControl(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}
bool isSpace(char32_t c) {
  return within(c, kSpaces);
}
bool isInvisible(char32_t c) {
  return within(c, kInvisible);
}
bool isMark(char32_t c) {
  return c >= 0x80 && within(c, kMarks);
}
bool isIdeograph(char32_t c) {
  return c >= 0x80 && within(c, kIdeographs);
}
bool isPictograph(char32_t c) {
  return c >= 0x80 && within(c, kPictographs);
}

bool isPunctuation(char32_t c) {
  if (c < 0x80) return kAsciiPunctuation.find(static_cast<char>(c)) != std::string_view::npos;
  return within(c, kPunctuation);
}

bool isWordCharacter(char32_t c) {
  if (c < 0x80) return c == '_' || isAsciiAlphanumeric(c);
  if (isMark(c)) return true;
  // Without the locale, whatever is not known to be something else is taken for a letter.
  if (utf8Locale() == nullptr) return !isPunctuation(c) && !isPictograph(c) && !isSpace(c) && !isControl(c);
  return iswalnum_l(static_cast<wint_t>(c), utf8Locale()) != 0;
}

char32_t toLower(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
  constexpr char32_t kFinalSigma = 0x3C2, kSigma = 0x3C3;
  if (c == kFinalSigma) return kSigma;
  return utf8Locale() == nullptr ? c
                                 : static_cast<char32_t>(towlower_l(static_cast<wint_t>(c), utf8Locale()));
}

std::size_t clusterEnd(std::string_view text, std::size_t at) {
  const DecodedCodePoint base = decodeUtf8(text, at);
  std::size_t end = at + base.length;
  if (isControl(base.value) || isSpace(base.value) || isInvisible(base.value)) return end;
  if (isRegionalIndicator(base.value) && end < text.size()) {
    const DecodedCodePoint next = decodeUtf8(text, end);
    if (isRegionalIndicator(next.value)) end += next.length;
  }
  char32_t last = base.value;
  while (end < text.size()) {
    const DecodedCodePoint next = decodeUtf8(text, end);
    const bool joined = last == kZeroWidthJoiner && isPictograph(base.value) && isPictograph(next.value);
    if (!isMark(next.value) && !joined) break;
    end += next.length;
    last = next.value;
  }
  return end;
}

}  // namespace headscope::attention
