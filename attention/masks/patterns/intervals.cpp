#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

constexpr std::array kIntervalsNumbers{
    readFrom(text_parts::querySegments, "queries", ParameterKind::positions, "",
             "the first query of each part"),
    readFrom(text_parts::keySegments, "keys", ParameterKind::spans, "", "the keys each part sees")};

Result<RuleLists> intervalLists(const Given& given) {
  auto parts = given.positions(0, given.geometry.cacheLength + given.geometry.queries, "positions");
  if (!parts) return parts.error();
  auto spans = given.spans(1);
  if (!spans) return spans.error();
  return RuleLists{.positions = std::move(parts).value(), .spans = std::move(spans).value()};
}

/// Returns the keys that part number `part` sees. There must be at least one span.
const KeyRun& spanOf(const RuleLists& lists, std::size_t part) {
  return lists.spans[std::min(part, lists.spans.size() - 1)];
}

/// Returns the keys that the position's part sees; empty before the first part.
KeyRun keysOf(const RuleLists& lists, Index position) {
  const auto begun = std::upper_bound(lists.positions.begin(), lists.positions.end(), position);
  if (begun == lists.positions.begin() || lists.spans.empty()) return {};
  return spanOf(lists, static_cast<std::size_t>(begun - lists.positions.begin()) - 1);
}

/// Writes the first key of every position, or one past its last, as `end` selects.
std::string defineEnd(const TableSource& source, Index KeyRun::*end) {
  const RuleLists& lists = *source.rule.lists;
  const auto& starts = lists.positions;
  const Index positions = source.sizes.positions();
  std::vector<std::string> items;
  for (std::size_t part = 0; part < starts.size() && !lists.spans.empty() && starts[part] < positions;
       ++part) {
    const Index last = part + 1 < starts.size() ? starts[part + 1] : positions;
    items.push_back(codeTuple({starts[part], last, spanOf(lists, part).*end}));
  }
  limitCode(static_cast<Index>(items.size()), kMaxSpelledOut, "the number of parts is");
  if (items.empty()) return "";
  return source.filled(std::to_string(positions), "int64", items, "first, last, key", "[first:last] = key");
}

constexpr LookupTable kFirstKey{
    .name = "first_key",
    .define = [](const TableSource& source) { return defineEnd(source, &KeyRun::begin); },
    .value = [](const Rule& rule, const RowPlace&, Index position,
                Index) { return keysOf(*rule.lists, position).begin; },
};
constexpr LookupTable kEndKey{
    .name = "end_key",
    .define = [](const TableSource& source) { return defineEnd(source, &KeyRun::end); },
    .value = [](const Rule& rule, const RowPlace&, Index position,
                Index) { return keysOf(*rule.lists, position).end; },
};

}  // namespace

/// Alayrac et al. 2022, "Flamingo: a Visual Language Model for Few-Shot Learning".
constinit const Pattern patterns::intervals{
    .info = {.kind = PatternKind::intervals,
             .name = "intervals",
             .title = "Cross-attention intervals",
             .help = "Queries are split into parts; each part sees the keys of its own image or sentence.",
             .formula = "j in the interval of i's part",
             .users = "Flamingo",
             .example = "intervals(queries=[0, 8, 16], keys=[0-6, 7-15, 16-23])",
             .parameters = kIntervalsNumbers,
             .comparesPositions = false},
    .visible =
        [](const Number& i, const Number& j) {
          return called("{j} in the interval[ of {keys}] of the part[ from {queries}] that {i} is in",
                        (j >= at(kFirstKey, i)) & (j < at(kEndKey, i)));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const KeyRun keys = keysOf(*rule.lists, at.position);
          appendRun(out, keys.begin, std::min(keys.end, at.keys));
        },
    .lists = intervalLists,
};

}  // namespace headscope::attention
