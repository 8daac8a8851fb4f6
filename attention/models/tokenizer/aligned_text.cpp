#include "attention/models/tokenizer/aligned_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace headscope::attention {

AlignedText::AlignedText(std::string_view typed, ByteRange range)
    : text_(typed.substr(range.begin, range.end - range.begin)),
      origins_(text_.size()),
      end_(static_cast<std::uint32_t>(range.end)) {
  std::iota(origins_.begin(), origins_.end(), static_cast<std::uint32_t>(range.begin));
}

void AlignedText::reserve(std::size_t bytes) {
  text_.reserve(bytes);
  origins_.reserve(bytes);
}

void AlignedText::append(std::string_view written, const AlignedText& from, ByteRange range) {
  text_ += written;
  for (std::size_t i = 0; i < written.size(); ++i)
    origins_.push_back(static_cast<std::uint32_t>(from.origin(std::min(range.begin + i, range.end))));
  end_ = static_cast<std::uint32_t>(from.origin(range.end));
}

void AlignedText::append(const AlignedText& from, ByteRange range) {
  text_.append(from.text_, range.begin, range.end - range.begin);
  origins_.insert(origins_.end(), from.origins_.begin() + static_cast<std::ptrdiff_t>(range.begin),
                  from.origins_.begin() + static_cast<std::ptrdiff_t>(range.end));
  end_ = static_cast<std::uint32_t>(from.origin(range.end));
}

Status AlignedText::checkLength() const {
  if (size() <= kMostRewritten) return success();
  return Error{fmt::format("the tokenizer's rules make the text longer than {} bytes", kMostRewritten)};
}

}  // namespace headscope::attention
