#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/models/tokenizer/encoded_text.h"

namespace headscope::attention {

/// The longest text that can be encoded, and the longest that rewriting may make of it, in bytes: more than
/// any model reads at once. Each byte takes up to 71 bytes of memory if it becomes a separate token.
inline constexpr std::size_t kMaxTyped = std::size_t{16} << 20, kMaxRewritten = std::size_t{36} << 20;
/// The most bytes that rewriting may make of `typed` bytes. Compatibility decomposition makes at most 11
/// bytes of one (U+FDFA), and spelling bytes as characters makes two.
constexpr std::size_t mostRewritten(std::size_t typed) {
  constexpr std::size_t kFloor = std::size_t{64} << 10, kTimes = 32;
  return typed < (kMaxRewritten - kFloor) / kTimes ? kFloor + kTimes * typed : kMaxRewritten;
}

Error tooLongRewritten(std::size_t most);

/// UTF-8 text that was rewritten step by step, and for each of its bytes the typed byte it comes from. These
/// origins never decrease, so ranges that tile the text map to ranges that tile what was typed.
class AlignedText {
 public:
  AlignedText() = default;
  /// Bytes `range` of a typed text, unchanged.
  AlignedText(std::string_view typed, ByteRange range);
  /// Bytes `range` of a rewritten text, which may grow as long as the whole of it.
  AlignedText(const AlignedText& text, ByteRange range);
  /// An empty text for rewriting `text`: it has space for as many bytes and the same limit.
  static AlignedText rewriting(const AlignedText& text);

  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }
  std::string_view part(ByteRange range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  /// Where byte `at` of this text begins in the typed text; for size(), where the text ends there.
  std::size_t origin(std::size_t at) const { return at < origins_.size() ? origins_[at] : end_; }
  ByteRange typedRange(ByteRange range) const { return {origin(range.begin), origin(range.end)}; }

  /// Appends `written` in place of the bytes `range` of `from`: byte for byte as far as the range reaches;
  /// further bytes map to its end. Drops anything that would make the text too long, and everything after it.
  void append(std::string_view written, const AlignedText& from, ByteRange range);
  /// Appends the bytes `range` of `from` unchanged.
  void append(const AlignedText& from, ByteRange range);
  /// Returns an Error if rewriting would have made the text longer than mostRewritten() of the typed one.
  Status checkLength() const;

 private:
  /// Whether `bytes` more bytes may be added.
  bool hasRoom(std::size_t bytes);

  std::string text_;
  std::vector<std::uint32_t> origins_;
  std::uint32_t end_ = 0;
  std::size_t most_ = kMaxRewritten;
  bool tooLong_ = false;
};

}  // namespace headscope::attention
