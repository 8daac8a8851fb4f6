#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/models/tokenizer/encoded_text.h"

namespace headscope::attention {

/// The longest text that is encoded, and the longest that rewriting may make of it, in bytes: more than any
/// model reads at once. Each byte takes up to 71 of memory, where it becomes a token of its own.
inline constexpr std::size_t kMostTyped = std::size_t{16} << 20, kMostRewritten = std::size_t{36} << 20;
/// The longest that rewriting may make of so many bytes. Compatibility decomposition makes 11 of one at the
/// most (U+FDFA), and spelling bytes as characters two of each.
constexpr std::size_t mostRewritten(std::size_t typed) {
  constexpr std::size_t kFloor = std::size_t{64} << 10, kTimes = 32;
  return typed < (kMostRewritten - kFloor) / kTimes ? kFloor + kTimes * typed : kMostRewritten;
}

Error tooLongRewritten(std::size_t most);

/// UTF-8 that was rewritten step by step, and for each of its bytes the byte of the typed text it comes from.
/// These never decrease, so that ranges of the text become ranges of what was typed that tile it as they do.
class AlignedText {
 public:
  AlignedText() = default;
  /// Bytes `range` of a typed text, as they are.
  AlignedText(std::string_view typed, ByteRange range);
  /// Bytes `range` of a rewritten text, which may grow as far as the whole of it.
  AlignedText(const AlignedText& text, ByteRange range);
  /// Nothing yet of what `text` is rewritten to: there is room for as much, and it may grow as far.
  static AlignedText rewriting(const AlignedText& text);

  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }
  std::string_view part(ByteRange range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  /// Where in the typed text byte `at` of this one begins; for size(), where it ends.
  std::size_t origin(std::size_t at) const { return at < origins_.size() ? origins_[at] : end_; }
  ByteRange typedRange(ByteRange range) const { return {origin(range.begin), origin(range.end)}; }

  /// Adds `written` in place of the bytes `range` of `from`: byte for byte as far as these reach, and what is
  /// written beyond them stands at their end. What would make the text too long is left out, and so is what
  /// comes after it.
  void append(std::string_view written, const AlignedText& from, ByteRange range);
  /// Adds the bytes `range` of `from` as they are.
  void append(const AlignedText& from, ByteRange range);
  /// An error where rewriting would have made the text longer than mostRewritten() of the typed one.
  Status checkLength() const;

 private:
  /// Whether so many bytes more may be added.
  bool hasRoom(std::size_t bytes);

  std::string text_;
  std::vector<std::uint32_t> origins_;
  std::uint32_t end_ = 0;
  std::size_t most_ = kMostRewritten;
  bool tooLong_ = false;
};

}  // namespace headscope::attention
