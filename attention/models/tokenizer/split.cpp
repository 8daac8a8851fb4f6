#include "attention/models/tokenizer/split.h"

#include <algorithm>

namespace headscope::attention {
namespace {

struct Section {
  ByteRange range;
  bool isMatch;
};

/// The matches and the text between them.
std::vector<Section> sectionsOf(ByteRange whole, std::span<const ByteRange> matches, bool invert) {
  std::vector<Section> sections;
  sections.reserve(2 * matches.size() + 1);
  std::size_t at = whole.begin;
  for (const ByteRange& match : matches) {
    const ByteRange found{whole.begin + match.begin, whole.begin + match.end};
    if (at < found.begin) sections.push_back({{at, found.begin}, invert});
    sections.push_back({found, !invert});
    at = found.end;
  }
  if (at < whole.end) sections.push_back({{at, whole.end}, invert});
  return sections;
}

/// Whether a section that follows `before` belongs to the same piece.
bool joins(const Section& before, const Section& section, SplitBehaviour behaviour) {
  switch (behaviour) {
    case SplitBehaviour::removed:
    case SplitBehaviour::isolated:
      return false;
    case SplitBehaviour::mergedWithPrevious:
      return section.isMatch && !before.isMatch;
    case SplitBehaviour::mergedWithNext:
      return before.isMatch && !section.isMatch;
    case SplitBehaviour::contiguous:
      return before.isMatch == section.isMatch;
  }
  return false;
}

}  // namespace

void splitRange(ByteRange whole, std::span<const ByteRange> matches, SplitBehaviour behaviour, bool invert,
                std::vector<ByteRange>& pieces) {
  const auto first = static_cast<std::ptrdiff_t>(pieces.size());
  const std::vector<Section> sections = sectionsOf(whole, matches, invert);
  const Section* before = nullptr;
  for (const Section& section : sections) {
    if (behaviour == SplitBehaviour::removed && section.isMatch) continue;
    if (before && joins(*before, section, behaviour))
      pieces.back().end = section.range.end;
    else
      pieces.push_back(section.range);
    before = &section;
  }
  const auto isEmpty = [](const ByteRange& range) { return range.begin == range.end; };
  pieces.erase(std::remove_if(pieces.begin() + first, pieces.end(), isEmpty), pieces.end());
}

}  // namespace headscope::attention
