#include "attention/masks/pattern.h"

#include <fmt/core.h>

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
    for (std::size_t k = 0; k < infos.size(); ++k) {
      infos[k] = kPatterns[k]->info;
      infos[k].kind = static_cast<PatternKind>(k);
    }
    return infos;
  }();
  return kInfos;
}

const PatternInfo& infoOf(PatternKind kind) {
  return patternTable()[static_cast<std::size_t>(kind)];
}

const PatternInfo* findPattern(std::string_view name) {
  const auto found = std::ranges::find(patternTable(), name, &PatternInfo::name);
  return found == patternTable().end() ? nullptr : &*found;
}

namespace {

using Positions = std::vector<Index>;

/// Checks given positions. `what` is the plural noun for the limit, as in "24 keys".
Status checkPositions(const Positions& positions, Index end, const char* what, const std::string& title) {
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const std::string found = fmt::format("{} hold {}", title, positions[k]);
    if (positions[k] < 0) return Error{found + ", expected 0 or more"};
    if (positions[k] >= end) return Error{fmt::format("{}, but there are {} {}", found, end, what)};
    if (k > 0 && positions[k] <= positions[k - 1])
      return Error{fmt::format("{} after {}, expected ascending positions", found, positions[k - 1])};
  }
  return success();
}

Result<std::vector<KeyRun>> givenSpans(const Argument& given, Index keys, const std::string& title) {
  if (given.values.size() % 2 != 0) return Error{title + " contain a span without a last position"};
  std::vector<KeyRun> spans;
  for (std::size_t k = 0; k < given.values.size(); k += 2) {
    const Index first = given.values[k], last = given.values[k + 1];
    const std::string found = fmt::format("{} hold {}-{}", title, first, last);
    if (first < 0 || last < first) return Error{found + ", expected the first position before the last"};
    if (last >= keys) return Error{fmt::format("{}, but there are {} keys", found, keys)};
    spans.push_back({first, last + 1});
  }
  return spans;
}

std::vector<KeyRun> cutSpans(const KeyRuns& fromText, Index keys) {
  std::vector<KeyRun> spans;
  for (const KeyRun& run : fromText)
    spans.push_back({std::clamp<Index>(run.begin, 0, keys), std::clamp<Index>(run.end, 0, keys)});
  return spans;
}

}  // namespace

const Argument* Given::argument(std::size_t parameter) const {
  if (parameter >= use.arguments.size() || !use.arguments[parameter]) return nullptr;
  return &*use.arguments[parameter];
}

std::string Given::title(std::size_t parameter) const {
  const std::string_view name = info.parameters[parameter].name;
  if (name == info.name) return std::string(name);
  return std::string(info.name) + (info.name.ends_with('s') ? "' " : "'s ") + std::string(name);
}

Result<std::vector<Index>> Given::positions(std::size_t parameter, Index end, const char* what) const {
  const Argument* list = argument(parameter);
  if (!list) {
    const TextPart* part = info.parameters[parameter].fromText;
    return part ? positionsBelow(end, geometry.structure.*part->positions) : Positions();
  }
  if (auto status = checkPositions(list->values, end, what, title(parameter)); !status) return status.error();
  return list->values;
}

Result<std::vector<KeyRun>> Given::spans(std::size_t parameter) const {
  const Argument* list = argument(parameter);
  if (list) return givenSpans(*list, geometry.keys, title(parameter));
  const TextPart* part = info.parameters[parameter].fromText;
  return part ? cutSpans(geometry.structure.*part->spans, geometry.keys) : std::vector<KeyRun>();
}

Result<Index> Given::count(std::size_t parameter, Index head) const {
  const ParameterInfo& wanted = info.parameters[parameter];
  const Argument* list = argument(parameter);
  if (!list) return wanted.fromText ? wanted.fromText->count(geometry) : wanted.defaultValue;
  if (list->values.empty()) return Error{title(parameter) + " has no value, expected at least one"};
  const Index value = list->values[static_cast<std::size_t>(head) % list->values.size()];
  const std::string found = fmt::format("{} is {}", title(parameter), value);
  if (value < wanted.low || value > wanted.high)
    return Error{fmt::format("{}, expected {} to {}", found, wanted.low, wanted.high)};
  if ((value - wanted.low) % wanted.step != 0)
    return Error{fmt::format("{}, expected {}, {}, {}, …", found, wanted.low, wanted.low + wanted.step,
                             wanted.low + 2 * wanted.step)};
  if (const std::size_t other = info.indexOf(wanted.notAbove); other < info.parameters.size()) {
    const auto most = count(other, head);
    if (!most) return most.error();
    if (value > *most)
      return Error{fmt::format("{}, expected at most its {}, {}", found, wanted.notAbove, *most)};
  }
  return wanted.clips ? std::min(value, geometry.keys) : value;
}

}  // namespace headscope::attention
