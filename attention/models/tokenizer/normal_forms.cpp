#include <fmt/core.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "attention/formats/base64.h"
#include "attention/models/tokenizer/characters.h"

namespace headscope::attention {
namespace {

/// A character in progress, and the bytes of the original text it comes from.
struct Part {
  char32_t value;
  int combiningClass;
  std::size_t begin, end;
};

int combiningClassOf(char32_t c) {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

/// Han ideographs, which no normal form changes.
bool isUnified(char32_t c) {
  return c >= 0x3400 && c <= 0x9FFF;
}

/// Whether nothing before the character affects it or what follows: neither reordering nor composition
/// crosses it. Together with Hangul and the Latin of the first blocks these are most characters, and NFC
/// keeps them.
bool startsAnew(char32_t c) {
  return c < 0x300 || isUnified(c) || (c >= 0xAC00 && c <= 0xD7A3);
}

/// The character that two compose to; nothing if they don't.
std::optional<char32_t> composed(char32_t first, char32_t second) {
  std::array<utf8proc_int32_t, 2> pair{static_cast<utf8proc_int32_t>(first),
                                       static_cast<utf8proc_int32_t>(second)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(pair.data(), 2, options) != 1) return std::nullopt;
  return static_cast<char32_t>(pair[0]);
}

/// Normalizes one stretch of text at a time; a stretch ends before a character that starts anew.
class Stretch {
 public:
  explicit Stretch(NormalForm form)
      : composes_(form == NormalForm::nfc || form == NormalForm::nfkc),
        compatible_(form == NormalForm::nfkc || form == NormalForm::nfkd) {}

  void add(char32_t c, std::size_t begin, std::size_t end) {
    constexpr int kLongest = 18;  // length of the longest decomposition (U+FDFA)
    std::array<utf8proc_int32_t, kLongest + 2> into;
    const int options = UTF8PROC_DECOMPOSE | (compatible_ ? UTF8PROC_COMPAT : 0);
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), into.data(), into.size(),
                                static_cast<utf8proc_option_t>(options), &boundary);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const auto value = static_cast<char32_t>(into[static_cast<std::size_t>(i)]);
      parts_.push_back({value, combiningClassOf(value), begin, end});
    }
  }

  /// Appends the normalized stretch to `to` and clears it. `end` is the stretch's end in `from`.
  void finish(const AlignedText& from, std::size_t end, AlignedText& to) {
    if (parts_.empty()) return;
    order();
    if (composes_) compose();
    std::size_t at = parts_.front().begin;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      at = std::max(at, parts_[i].begin);
      const std::size_t next = i + 1 < parts_.size() ? std::max(at, parts_[i + 1].begin) : end;
      written_.clear();
      appendUtf8(parts_[i].value, written_);
      to.append(written_, from, {at, next});
      // If several come from one character, each takes as many of its bytes as it has itself.
      at = std::min(at + written_.size(), std::max(at, parts_[i].end));
    }
    parts_.clear();
  }

 private:
  /// Canonical order: sorts consecutive marks by combining class.
  void order() {
    for (auto begin = parts_.begin(); begin != parts_.end();) {
      const auto end = std::find_if(begin, parts_.end(), [](const Part& p) { return p.combiningClass == 0; });
      std::stable_sort(begin, end,
                       [](const Part& a, const Part& b) { return a.combiningClass < b.combiningClass; });
      begin = end == parts_.end() ? end : end + 1;
    }
  }

  /// Canonical composition: a character joins the last starter unless one between them blocks it.
  void compose() {
    std::size_t kept = 0;
    std::optional<std::size_t> starter;
    int lastClass = -1;  // of the last one kept after the starter; -1: none in between
    for (const Part part : parts_) {
      if (starter && (lastClass == -1 || lastClass < part.combiningClass)) {
        if (const auto joined = composed(parts_[*starter].value, part.value)) {
          parts_[*starter].value = *joined;
          parts_[*starter].end = std::max(parts_[*starter].end, part.end);
          continue;
        }
      }
      if (part.combiningClass == 0) {
        starter = kept;
        lastClass = -1;
      } else {
        lastClass = part.combiningClass;
      }
      parts_[kept++] = part;
    }
    parts_.resize(kept);
  }

  bool composes_, compatible_;
  std::vector<Part> parts_;
  std::string written_;
};

}  // namespace

Result<AlignedText> normalForm(const AlignedText& text, NormalForm form, const std::stop_token& stop) {
  // Whether the character stays unchanged unless what follows composes with it.
  const auto isStable = [form](char32_t c) {
    return form == NormalForm::nfc ? startsAnew(c) : c < 0x80 || isUnified(c);
  };
  AlignedText result = AlignedText::rewriting(text);
  Stretch stretch(form);
  // A stable character waits for the next one; [waiting, at) is known to stay unchanged.
  std::size_t waiting = 0;
  std::optional<std::pair<char32_t, std::size_t>> last;
  bool open = false;
  Status length = success();
  const auto take = [&](char32_t c, std::size_t begin, std::size_t end) {
    if (!length) return;
    if (startsAnew(c)) {
      if (open) {
        stretch.finish(text, begin, result);
        waiting = begin;
        length = result.checkLength();
      }
      open = false;
    }
    if (!open && !isStable(c)) {
      // The stable character before it may compose with it.
      const std::size_t from = last && !startsAnew(c) && last->second >= waiting ? last->second : begin;
      if (from > waiting) result.append(text, {waiting, from});
      if (from < begin) stretch.add(last->first, from, begin);
      open = true;
    }
    if (open) stretch.add(c, begin, end);
    last.emplace(c, begin);
  };
  if (!eachCharacter(text.text(), stop, take)) return stopped();
  if (!length) return length.error();
  if (open) {
    stretch.finish(text, text.size(), result);
  } else if (waiting < text.size()) {
    result.append(text, {waiting, text.size()});
  }
  if (const auto status = result.checkLength(); !status) return status.error();
  return result;
}

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
  const auto take = [&](char32_t c, std::size_t begin, std::size_t end) {
    if (begin > 0 && utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before),
                                                      static_cast<utf8proc_int32_t>(c), &state))
      flush();
    grapheme.push_back({begin, end});
    before = c;
  };
  if (!eachCharacter(text.text(), stop, take)) return stopped();
  flush();
  return result;
}

}  // namespace headscope::attention
