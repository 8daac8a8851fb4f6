#include <algorithm>

#include "attention/masks/rows.h"
#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

/// All keys for a global token, the global keys for the others, together with begin … end−1.
void globalsRow(const std::vector<Index>& globals, const RowPlace& place, Index begin, Index end,
                KeyRuns& out) {
  if (std::binary_search(globals.begin(), globals.end(), place.position))
    return appendRun(out, 0, place.keys);
  const auto within = std::lower_bound(globals.begin(), globals.end(), begin);
  for (auto global = globals.begin(); global != within; ++global) appendRun(out, *global, *global + 1);
  appendRun(out, begin, end);
  for (auto global = within; global != globals.end(); ++global) appendRun(out, *global, *global + 1);
}

void sharedPrefixRow(const std::vector<Index>& starts, const RowPlace& place, KeyRuns& out) {
  const Index end = std::min(place.position + 1, place.keys);
  appendRun(out, 0, std::min(starts.size() > 1 ? starts[1] : place.keys, end));
  appendRun(out, starts[documentOf(starts, place.position)], end);
}

void imageRow(const std::vector<KeyRun>& images, const RowPlace& place, KeyRuns& out) {
  Index end = place.position + 1;
  const auto image = std::partition_point(images.begin(), images.end(),
                                          [&](const KeyRun& run) { return run.end <= place.position; });
  if (image != images.end() && image->begin <= place.position) end = image->end;
  appendRun(out, 0, std::min(end, place.keys));
}

void intervalsRow(const RuleLists& lists, const RowPlace& place, KeyRuns& out) {
  const auto begun = std::upper_bound(lists.positions.begin(), lists.positions.end(), place.row);
  if (begun == lists.positions.begin() || lists.spans.empty()) return;
  const auto part = static_cast<std::size_t>(begun - lists.positions.begin()) - 1;
  const KeyRun& run = lists.spans[std::min(part, lists.spans.size() - 1)];
  appendRun(out, run.begin, std::min(run.end, place.keys));
}

}  // namespace

std::size_t documentOf(const std::vector<Index>& starts, Index position) {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), position) - starts.begin()) -
         1;
}

void textRow(const Rule& rule, const RowPlace& place, KeyRuns& out) {
  const Index i = place.position, m = place.keys, count = rule.counts[0];
  switch (rule.kind) {
    case PatternKind::globals:
      return globalsRow(rule.lists->positions, place, m, m, out);
    case PatternKind::longformer:
      return globalsRow(rule.lists->positions, place, std::clamp<Index>(i - count + 1, 0, m),
                        std::min(i + count, m), out);
    case PatternKind::prefixLm:
      return appendRun(out, 0, std::min(std::max(count, i + 1), m));
    case PatternKind::packed:
      return appendRun(out, rule.lists->positions[documentOf(rule.lists->positions, i)], std::min(i + 1, m));
    case PatternKind::sharedPrefix:
      return sharedPrefixRow(rule.lists->positions, place, out);
    case PatternKind::image:
      return imageRow(rule.lists->spans, place, out);
    case PatternKind::intervals:
      return intervalsRow(*rule.lists, place, out);
    default:
      require(false, "not a pattern that goes by the text");
  }
}

void treeRow(const Rule& rule, const RowPlace& place, KeyRuns& out) {
  const Index prefix = rule.counts[0], m = place.keys;
  if (place.position < prefix) return appendRun(out, 0, std::min(place.position + 1, m));
  const auto& parents = rule.lists->parents;
  const auto& chainEnds = rule.lists->chainEnds;
  // The way up is pushed as it goes and brought into order at the end: parents may stand behind their
  // children.
  out.push_back({0, std::min(prefix, m)});
  for (Index node = place.position - prefix; node >= 0;) {
    const Index last = chainEnds[static_cast<std::size_t>(node)];
    out.push_back({prefix + std::min(node, last), std::min(prefix + std::max(node, last) + 1, m)});
    node = parents[static_cast<std::size_t>(last)];
  }
  sortRuns(out);
}

void ruleRow(const Rule& rule, const RowPlace& place, KeyRuns& out) {
  out.clear();
  switch (rule.kind) {
    case PatternKind::documents:
    case PatternKind::painted:
    case PatternKind::file:
      require(false, "documents, paintings and files are no formula over positions");
      return;
    case PatternKind::bigBird:
      return bigBirdRow(rule, place, out);
    case PatternKind::tree:
      return treeRow(rule, place, out);
    case PatternKind::neighborhood:
    case PatternKind::neighborhoodZ:
      return gridRow(rule, place, out);
    case PatternKind::globals:
    case PatternKind::longformer:
    case PatternKind::prefixLm:
    case PatternKind::packed:
    case PatternKind::sharedPrefix:
    case PatternKind::image:
    case PatternKind::intervals:
      return textRow(rule, place, out);
    default:
      return localRow(rule, place, out);
  }
}

}  // namespace headscope::attention
