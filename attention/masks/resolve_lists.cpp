#include "attention/masks/resolve_lists.h"

#include <algorithm>

#include "attention/masks/resolve_tree.h"

namespace headscope::attention {
namespace {

using Positions = std::vector<Index>;

Positions sortedWithin(Positions positions, Index end) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  std::erase_if(positions, [&](Index position) { return position < 0 || position >= end; });
  return positions;
}

/// Checks what was given; `what` is counted as "24 keys".
Status checkPositions(const Positions& positions, Index end, const char* what, const std::string& title) {
  for (std::size_t k = 0; k < positions.size(); ++k) {
    const std::string found = title + " hold " + std::to_string(positions[k]);
    if (positions[k] < 0) return Error{found + ", expected 0 or more"};
    if (positions[k] >= end) return Error{found + ", but there are " + std::to_string(end) + " " + what};
    if (k > 0 && positions[k] <= positions[k - 1])
      return Error{found + " after " + std::to_string(positions[k - 1]) + ", expected ascending positions"};
  }
  return success();
}

Result<Positions> positionsOf(const PatternUse& use, std::size_t parameter, Index end, const char* what,
                              const Positions& fromText) {
  const Argument* given = argumentOf(use, parameter);
  if (!given) return sortedWithin(fromText, end);
  if (auto status = checkPositions(given->values, end, what, parameterTitle(use, parameter)); !status)
    return status.error();
  return given->values;
}

/// documents, packed, shared_prefix: the first document begins with the text.
Result<Positions> startsOf(const PatternUse& use, const MaskGeometry& geometry) {
  auto starts = positionsOf(use, 0, geometry.keys, "keys", geometry.structure.documentStarts);
  if (starts && (starts->empty() || starts->front() != 0)) starts->insert(starts->begin(), 0);
  return starts;
}

std::string spanText(Index first, Index last) {
  return std::to_string(first) + "-" + std::to_string(last);
}

/// Spans as they were given, first and last position of each in turn, without demands on their order.
Result<std::vector<KeyRun>> givenSpans(const Argument& given, Index keys, const std::string& title) {
  if (given.values.size() % 2 != 0) return Error{title + " hold a span without a last position"};
  std::vector<KeyRun> spans;
  for (std::size_t k = 0; k < given.values.size(); k += 2) {
    const Index first = given.values[k], last = given.values[k + 1];
    const std::string found = title + " hold " + spanText(first, last);
    if (first < 0 || last < first) return Error{found + ", expected the first position before the last"};
    if (last >= keys) return Error{found + ", but there are " + std::to_string(keys) + " keys"};
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

Result<std::vector<KeyRun>> imagesOf(const PatternUse& use, const MaskGeometry& geometry) {
  const Argument* given = argumentOf(use, 0);
  if (!given) {
    auto spans = cutSpans(geometry.structure.images, geometry.keys);
    std::erase_if(spans, [](const KeyRun& span) { return span.begin >= span.end; });
    return spans;
  }
  auto spans = givenSpans(*given, geometry.keys, parameterTitle(use, 0));
  if (!spans) return spans;
  for (std::size_t k = 1; k < spans->size(); ++k) {
    const KeyRun &before = (*spans)[k - 1], &span = (*spans)[k];
    if (span.begin < before.end)
      return Error{parameterTitle(use, 0) + " hold " + spanText(span.begin, span.end - 1) + " after " +
                   spanText(before.begin, before.end - 1) + ", expected ascending spans that don't overlap"};
  }
  return spans;
}

Result<std::vector<KeyRun>> segmentsOf(const PatternUse& use, const MaskGeometry& geometry) {
  const Argument* given = argumentOf(use, 1);
  if (!given) return cutSpans(geometry.structure.keySegments, geometry.keys);
  return givenSpans(*given, geometry.keys, parameterTitle(use, 1));
}

template <typename T>
Status put(Result<T> from, T& to) {
  if (!from) return from.error();
  to = std::move(from).value();
  return success();
}

Status fill(RuleLists& lists, const PatternUse& use, const MaskGeometry& geometry, Index prefix) {
  const TextStructure& text = geometry.structure;
  switch (use.kind) {
    case PatternKind::globals:
      return put(positionsOf(use, 0, geometry.keys, "keys", text.globals), lists.positions);
    case PatternKind::longformer:
      return put(positionsOf(use, 1, geometry.keys, "keys", text.globals), lists.positions);
    case PatternKind::documents:
    case PatternKind::packed:
    case PatternKind::sharedPrefix:
      return put(startsOf(use, geometry), lists.positions);
    case PatternKind::image:
      return put(imagesOf(use, geometry), lists.spans);
    case PatternKind::intervals:
      if (auto status =
              put(positionsOf(use, 0, geometry.queries, "queries", text.querySegments), lists.positions);
          !status)
        return status;
      return put(segmentsOf(use, geometry), lists.spans);
    default:
      return resolveTree(use, geometry, prefix, lists);
  }
}

bool hasLists(PatternKind kind) {
  for (const ParameterInfo& parameter : infoOf(kind).parameters)
    if (parameter.kind == ParameterKind::positions || parameter.kind == ParameterKind::spans ||
        parameter.kind == ParameterKind::parents)
      return true;
  return false;
}

}  // namespace

std::string parameterTitle(const PatternUse& use, std::size_t parameter) {
  const PatternInfo& info = infoOf(use.kind);
  const std::string_view name = info.parameters[parameter].name;
  if (name == info.name) return std::string(name);
  return std::string(info.name) + (info.name.ends_with('s') ? "' " : "'s ") + std::string(name);
}

const Argument* argumentOf(const PatternUse& use, std::size_t parameter) {
  if (parameter >= use.arguments.size() || !use.arguments[parameter]) return nullptr;
  return &*use.arguments[parameter];
}

Result<std::shared_ptr<const RuleLists>> resolveLists(const PatternUse& use, const MaskGeometry& geometry,
                                                      Index prefix) {
  if (!hasLists(use.kind)) return std::shared_ptr<const RuleLists>();
  auto lists = std::make_shared<RuleLists>();
  if (auto status = fill(*lists, use, geometry, prefix); !status) return status.error();
  return std::shared_ptr<const RuleLists>(std::move(lists));
}

}  // namespace headscope::attention
