#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/models/tokenizer/encoded_text.h"

namespace headscope::attention {

/// The longest text that is encoded, and the longest that rewriting may make of it, in bytes.
inline constexpr std::size_t kMostTyped = std::size_t{64} << 20, kMostRewritten = std::size_t{256} << 20;

/// UTF-8 that was rewritten step by step, and for each of its bytes the byte of the typed text it comes from.
/// These never decrease, so that ranges of the text become ranges of what was typed that tile it as they do.
class AlignedText {
 public:
  AlignedText() = default;
  /// Bytes `range` of a typed text, as they are.
  AlignedText(std::string_view typed, ByteRange range);

  const std::string& text() const { return text_; }
  std::size_t size() const { return text_.size(); }
  std::string_view part(ByteRange range) const {
    return std::string_view(text_).substr(range.begin, range.end - range.begin);
  }
  /// Where in the typed text byte `at` of this one begins; for size(), where it ends.
  std::size_t origin(std::size_t at) const { return at < origins_.size() ? origins_[at] : end_; }
  ByteRange typedRange(ByteRange range) const { return {origin(range.begin), origin(range.end)}; }

  void reserve(std::size_t bytes);
  /// Adds `written` in place of the bytes `range` of `from`: byte for byte as far as these reach, and what is
  /// written beyond them stands at their end.
  void append(std::string_view written, const AlignedText& from, ByteRange range);
  /// Adds the bytes `range` of `from` as they are.
  void append(const AlignedText& from, ByteRange range);
  /// An error where rewriting has made the text longer than kMostRewritten.
  Status checkLength() const;

 private:
  std::string text_;
  std::vector<std::uint32_t> origins_;
  std::uint32_t end_ = 0;
};

}  // namespace headscope::attention
