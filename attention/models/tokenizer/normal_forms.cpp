#include "attention/models/tokenizer/normal_forms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>

#include "attention/core/stopped.h"
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
  std::size_t waiting = 0, count = 0;
  std::optional<std::pair<char32_t, std::size_t>> last;
  bool open = false, halted = false;
  Status length = success();
  eachCharacter(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    if (halted) return;
    if (startsAnew(c)) {
      if (open) {
        stretch.finish(text, begin, result);
        waiting = begin;
        if (length.ok()) length = result.checkLength();
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
    halted = !length.ok() || (++count % 4096 == 0 && stop.stop_requested());
  });
  if (!length) return length.error();
  if (halted) return stopped();
  if (open) {
    stretch.finish(text, text.size(), result);
  } else if (waiting < text.size()) {
    result.append(text, {waiting, text.size()});
  }
  if (const auto status = result.checkLength(); !status) return status.error();
  return result;
}

}  // namespace headscope::attention
