#include "attention/models/tokenizer/character_map.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <cstring>

#include "attention/core/stopped.h"
#include "attention/formats/base64.h"
#include "attention/models/tokenizer/characters.h"

namespace headscope::attention {
namespace {

// Fields of a trie unit: whether a value follows, the value, the byte that leads here, and the offset of the
// children.
constexpr bool hasLeaf(std::uint32_t unit) {
  return (unit >> 8 & 1) == 1;
}
constexpr std::uint32_t valueOf(std::uint32_t unit) {
  return unit & 0x7FFFFFFF;
}
constexpr std::uint32_t labelOf(std::uint32_t unit) {
  return unit & 0x800000FF;
}
constexpr std::uint32_t offsetOf(std::uint32_t unit) {
  return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

}  // namespace

Result<CharacterMap> CharacterMap::read(std::string_view base64) {
  const auto bytes = fromBase64(base64, Base64::standard);
  if (!bytes) return Error{"is not base64"};
  std::uint32_t size = 0;
  if (bytes->size() < sizeof size)
    return Error{fmt::format("has {} bytes, expected a trie and texts", bytes->size())};
  std::memcpy(&size, bytes->data(), sizeof size);
  if (size % 4 != 0 || size == 0 || size > bytes->size() - sizeof size)
    return Error{fmt::format("has a trie of {} bytes, expected a multiple of 4 up to {}", size,
                             bytes->size() - sizeof size)};
  CharacterMap map;
  map.units_.resize(size / 4);
  std::memcpy(map.units_.data(), bytes->data() + sizeof size, size);
  map.texts_ = bytes->substr(sizeof size + size);
  return map;
}

std::optional<std::string_view> CharacterMap::find(std::string_view text) const {
  std::size_t at = 0;
  at ^= offsetOf(units_[at]);
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte == 0) break;
    at ^= byte;
    if (at >= units_.size() || labelOf(units_[at]) != byte) break;
    const std::uint32_t unit = units_[at];
    at ^= offsetOf(unit);
    if (!hasLeaf(unit)) continue;
    if (at >= units_.size()) break;
    const std::size_t place = valueOf(units_[at]);
    if (place >= texts_.size()) break;
    const std::string_view rest = std::string_view(texts_).substr(place);
    return rest.substr(0, rest.find('\0'));
  }
  return std::nullopt;
}

Result<AlignedText> CharacterMap::apply(const AlignedText& text, const std::stop_token& stop) const {
  constexpr std::size_t kLongest = 6;
  AlignedText result = AlignedText::rewriting(text);
  // Like the reference, counts characters dropped at the front as part of the first one that is kept: it
  // begins the text, which Metaspace asks.
  const auto write = [&](std::string_view written, ByteRange range) {
    result.append(written, text, {result.size() == 0 ? 0 : range.begin, range.end});
  };
  const auto character = [&](ByteRange range) {
    const auto by = find(text.part(range));
    write(by ? *by : text.part(range), range);
  };
  std::vector<ByteRange> grapheme;  // its characters
  const auto flush = [&] {
    if (grapheme.empty()) return;
    const ByteRange whole{grapheme.front().begin, grapheme.back().end};
    const auto by = whole.end - whole.begin < kLongest ? find(text.part(whole)) : std::nullopt;
    if (by)
      write(*by, whole);
    else
      for (const ByteRange& each : grapheme) character(each);
    grapheme.clear();
  };
  utf8proc_int32_t state = 0;
  char32_t before = 0;
  std::size_t count = 0;
  bool halted = false;
  eachCharacter(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    halted = halted || (++count % 4096 == 0 && stop.stop_requested());
    if (halted) return;
    if (begin > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                                      static_cast<utf8proc_int32_t>(c), &state))
      flush();
    grapheme.push_back({begin, end});
    before = c;
  });
  if (halted) return stopped();
  flush();
  return result;
}

}  // namespace headscope::attention
