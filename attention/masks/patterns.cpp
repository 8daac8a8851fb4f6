#include <algorithm>
#include <iterator>

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

#define HEADSCOPE_PATTERN_ADDRESS(name) &patterns::name,
constexpr const Pattern* kPatterns[] = {HEADSCOPE_PATTERNS(HEADSCOPE_PATTERN_ADDRESS)};
#undef HEADSCOPE_PATTERN_ADDRESS

}  // namespace

const Pattern& patternOf(PatternKind kind) {
  return *kPatterns[static_cast<std::size_t>(kind)];
}

std::span<const PatternInfo> patternTable() {
  static const auto kInfos = [] {
    std::array<PatternInfo, std::size(kPatterns)> infos;
    std::transform(std::begin(kPatterns), std::end(kPatterns), infos.begin(),
                   [](const Pattern* pattern) { return pattern->info; });
    return infos;
  }();
  return kInfos;
}

const PatternInfo& infoOf(PatternKind kind) {
  return patternOf(kind).info;
}

const PatternInfo* findPattern(std::string_view name) {
  const auto found = std::find_if(std::begin(kPatterns), std::end(kPatterns),
                                  [&](const Pattern* pattern) { return pattern->info.name == name; });
  return found == std::end(kPatterns) ? nullptr : &(*found)->info;
}

}  // namespace headscope::attention
