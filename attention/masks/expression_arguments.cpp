#include <fmt/core.h>

#include <charconv>
#include <iterator>

#include "attention/masks/expression_parser.h"
#include "attention/masks/patterns/definition.h"
#include "attention/text/ascii.h"

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

namespace {

const char* valueText(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::count:
      return "a whole number or a list of them";
    case ParameterKind::positions:
      return "a list of positions such as [0, 11]";
    case ParameterKind::spans:
      return "a list of spans such as [0-3, 8-11]";
    case ParameterKind::parents:
      return "a list of parents such as [-1, 0, 0]";
    case ParameterKind::name:
      return "a name in quotes";
    case ParameterKind::path:
      return "a path in quotes";
    case ParameterKind::convention:
      return "visible, masked or additive";
  }
  return "";
}

bool isText(ParameterKind kind) {
  return kind == ParameterKind::name || kind == ParameterKind::path || kind == ParameterKind::convention;
}

std::string argumentCount(std::size_t count) {
  return count == 0 ? "no argument" : counted(count, "argument");
}

}  // namespace

bool MaskParser::readArguments(const PatternInfo& info, PatternUse& use) {
  const std::size_t offset = lexer_.peek().offset;
  if (info.takesInner && !enter()) return false;
  lexer_.take();
  std::size_t position = 0;
  bool named = false, first = true;
  while (first ? !lexer_.peek().isSymbol(')') : takeSymbol(',')) {
    const MaskToken& next = lexer_.peek();
    const bool parameter = next.isSymbol('[') || next.kind == MaskTokenKind::number ||
                           (next.kind == MaskTokenKind::word && lexer_.after() == '=');
    const bool inner = info.takesInner && first && !parameter;
    if (inner ? !readInner(use) : !readArgument(info, use, position, named)) return false;
    first = false;
  }
  if (lexer_.peek().kind == MaskTokenKind::end && !lexer_.error())
    return fail("a closing bracket is missing", offset);
  if (info.takesInner) --depth_;
  return expectSymbol(')', "\",\" or \")\"");
}

bool MaskParser::readInner(PatternUse& use) {
  return readMask(use.inner);
}

bool MaskParser::readArgument(const PatternInfo& info, PatternUse& use, std::size_t& position, bool& named) {
  const auto& parameters = info.parameters;
  const MaskToken next = lexer_.peek();
  const std::string name(info.name);
  std::size_t index = position;
  if (next.kind == MaskTokenKind::word && lexer_.after() == '=') {
    std::vector<std::string_view> names;
    for (const ParameterInfo& parameter : parameters) names.push_back(parameter.name);
    index = static_cast<std::size_t>(std::find(names.begin(), names.end(), next.text) - names.begin());
    if (index == names.size())
      return fail(name + " has no parameter " + quotedWord(next.text) + suggestion(next.text, names),
                  next.offset);
    lexer_.take();
    lexer_.take();
    named = true;
  } else if (named) {
    return fail("a value without a name can't follow one with a name", next.offset);
  } else if (next.kind != MaskTokenKind::end && index == parameters.size()) {
    return fail(name + " takes " + argumentCount(parameters.size()), next.offset);
  } else if (index == parameters.size()) {
    return failAt(lexer_.peek(), "\")\"");
  }
  auto& target = use.arguments[index];
  if (target) return fail(name + " is given " + std::string(parameters[index].name) + " twice", next.offset);
  target.emplace();
  ++position;
  return readValue(parameters[index], *target);
}

bool MaskParser::fillDefaults(const PatternInfo& info, PatternUse& use, std::size_t offset) {
  for (std::size_t i = 0; i < info.parameters.size(); ++i) {
    const ParameterInfo& parameter = info.parameters[i];
    if (use.arguments[i] || parameter.fromText) continue;
    if (isText(parameter.kind))
      return fail(std::string(info.name) + " needs a " + std::string(parameter.name) + ": " +
                      valueText(parameter.kind),
                  offset);
    use.arguments[i] = Argument{{parameter.defaultValue}, ""};
  }
  return true;
}

bool MaskParser::readValue(const ParameterInfo& parameter, Argument& argument) {
  if (isText(parameter.kind)) return readText(parameter, argument);
  const MaskToken next = lexer_.peek();
  if (!takeSymbol('[')) return readItem(parameter, argument);
  // Counts are per head, so an empty list has no meaning.
  const bool mayBeEmpty = parameter.kind != ParameterKind::count;
  if (mayBeEmpty && takeSymbol(']')) return true;
  do {
    if (!readItem(parameter, argument)) return false;
  } while (takeSymbol(','));
  if (lexer_.peek().kind == MaskTokenKind::end && !lexer_.error())
    return fail("a closing bracket is missing", next.offset);
  return expectSymbol(']', "\",\" or \"]\"");
}

bool MaskParser::readItem(const ParameterInfo& parameter, Argument& argument) {
  const std::string subject(parameter.name);
  const MaskToken next = lexer_.peek();
  if (next.kind != MaskTokenKind::number && !next.isSymbol('-'))
    return failAt(next, valueText(parameter.kind));
  auto& values = argument.values;
  const bool parents = parameter.kind == ParameterKind::parents;
  Index value = 0;
  if (!readInteger(subject, parents ? -1 : parameter.low, parameter.high, value)) return false;
  if (parameter.kind == ParameterKind::positions && !values.empty() && value <= values.back())
    return fail(
        fmt::format("{} has {} after {}, expected ascending positions", subject, value, values.back()),
        next.offset);
  values.push_back(value);
  if (parameter.kind != ParameterKind::spans) return true;
  Index last = value;
  if (takeSymbol('-') && !readInteger(subject, parameter.low, parameter.high, last)) return false;
  if (last < value)
    return fail(fmt::format("the span {}-{} ends before it begins", value, last), next.offset);
  values.push_back(last);
  return true;
}

bool MaskParser::readInteger(const std::string& subject, Index low, Index high, Index& value) {
  const std::size_t offset = lexer_.peek().offset;
  const bool negative = takeSymbol('-');
  const MaskToken& next = lexer_.peek();
  if (next.kind != MaskTokenKind::number) return failAt(next, "a whole number");
  const char* end = next.text.data() + next.text.size();
  const bool fits = std::from_chars(next.text.data(), end, value).ec == std::errc();
  if (negative) value = -value;
  if (!fits || value < low || value > high) {
    std::string found = (negative ? "-" : "") + std::string(next.text.substr(0, 24));
    if (next.text.size() > 24) found += "…";
    return fail(fmt::format("{} is {}, expected {} to {}", subject, found, low, high), offset);
  }
  lexer_.take();
  return true;
}

bool MaskParser::readText(const ParameterInfo& parameter, Argument& argument) {
  const MaskToken& next = lexer_.peek();
  if (parameter.kind == ParameterKind::convention) {
    if (!next.isWord("visible") && !next.isWord("masked") && !next.isWord("additive"))
      return failAt(next, valueText(parameter.kind));
    argument.text = lexer_.take().text;
    return true;
  }
  if (next.kind != MaskTokenKind::string) return failAt(next, valueText(parameter.kind));
  argument.text = lexer_.take().string;
  return true;
}

namespace {

using Positions = std::vector<Index>;

Positions sortedWithin(Positions positions, Index end) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  std::erase_if(positions, [&](Index position) { return position < 0 || position >= end; });
  return positions;
}

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
    return part ? sortedWithin(geometry.structure.*part->positions, end) : Positions();
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
  if (wanted.fitsKeys && value > geometry.keys)
    return Error{fmt::format("{}, but there are {} keys", found, geometry.keys)};
  return value;
}

}  // namespace headscope::attention
