#include "attention/models/tokenizer/aligned_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace headscope::attention {

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

}  // namespace headscope::attention
