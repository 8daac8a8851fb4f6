#include <fmt/core.h>

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {

// Masks stored cell by cell: painted by hand or read from a file.

namespace {

constexpr std::array kPainting{
    ParameterInfo{"name", ParameterKind::name, 0, 0, 0, nullptr, "a painting of the scene"}};
constexpr std::array kFile{
    ParameterInfo{"path", ParameterKind::path, 0, 0, 0, nullptr, "a .npy, .csv or .safetensors file"},
    ParameterInfo{"convention", ParameterKind::convention, 0, 0, 0, nullptr,
                  "visible: true or 1 shows a key; masked: true or 1 hides it; additive: −inf hides it"}};

std::string sizeText(Index queries, Index keys) {
  return fmt::format("{} × {}", queries, keys);
}

Result<std::shared_ptr<const CellTable>> paintedCells(const Given& given) {
  const Argument* name = given.argument(0);
  if (!name || name->text.empty()) return Error{"painted has no name, expected painted(\"…\")"};
  const auto found = given.sources.paintings.find(name->text);
  if (found == given.sources.paintings.end() || !found->second)
    return Error{"there is no painting \"" + name->text + "\""};
  return found->second;
}

Result<std::shared_ptr<const CellTable>> fileCells(const Given& given) {
  const Argument *path = given.argument(0), *convention = given.argument(1);
  if (!path || !convention || path->text.empty())
    return Error{"file has no path or no convention, expected file(\"…\", visible), masked or additive"};
  const auto found = given.sources.files.find(fileKey(path->text, convention->text));
  if (found == given.sources.files.end() || !found->second)
    return Error{path->text + " has not been read as " + convention->text};
  const CellTable& cells = *found->second;
  const MaskGeometry& geometry = given.geometry;
  if (cells.queries != geometry.queries || cells.keys != geometry.keys)
    return Error{path->text + " is " + sizeText(cells.queries, cells.keys) + ", expected " +
                 sizeText(geometry.queries, geometry.keys)};
  if (cells.heads != 1 && cells.heads != geometry.heads)
    return Error{fmt::format("{} has {} heads, expected 1 or {}", path->text, cells.heads, geometry.heads)};
  return found->second;
}

bool covers(const KeyRuns& runs, Index key) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const KeyRun& run) { return run.begin <= key && key < run.end; });
}

/// Writes cells as rectangles; consecutive equal rows are merged.
std::string defineCells(const TableSource& source) {
  constexpr Index kMaxRectangles = Index{1} << 16;
  const auto& [rule, dialect, sizes, starts] = source;
  const CellTable& table = *rule.cells;
  const Index rows = rule.cellHead < table.heads ? std::min(table.queries, sizes.queries) : 0;
  const bool decidesAll = cellsDecideAll(rule, sizes);
  const auto same = [](const CellRow* a, const CellRow* b) { return a == b || (a && b && *a == *b); };
  std::vector<std::string> items;
  for (Index row = 0, next = 0; row < rows; row = next) {
    const CellRow* cells = rule.cells->rowOf(rule.cellHead, row);
    for (next = row + 1; next < rows && same(cells, rule.cells->rowOf(rule.cellHead, next));) ++next;
    if (!cells) continue;
    const auto add = [&, top = row, bottom = next](const KeyRuns& runs, Index value) {
      for (const KeyRun& run : runs) {
        const Index end = std::min(run.end, source.sizes.keys);
        if (run.begin < end) items.push_back(codeTuple({top, bottom, run.begin, end, value}));
      }
    };
    add(cells->visible, 1);
    // If all cells are decided, those that are not visible are masked.
    if (!decidesAll) add(cells->masked, 2);
    limitCode(static_cast<Index>(items.size()), kMaxRectangles,
              "the number of rectangles of painted or read cells is");
  }
  return source.filled(codeTuple({sizes.queries, sizes.keys}), "int8", items,
                       "top, bottom, left, right, value", "[top:bottom, left:right] = value");
}

}  // namespace

constinit const LookupTable kCells{
    .name = "cells",
    .define = defineCells,
    .value =
        [](const Rule& rule, const RowPlace&, Index row, Index key) {
          const CellRow* cells = rule.cells->rowOf(rule.cellHead, row);
          return Index{!cells ? 0 : covers(cells->visible, key) ? 1 : covers(cells->masked, key) ? 2 : 0};
        },
};

bool cellsDecideAll(const Rule& rule, const CodeSizes& sizes) {
  const CellTable& table = *rule.cells;
  if (rule.cellHead >= table.heads || table.queries < sizes.queries) return false;
  for (Index row = 0; row < sizes.queries; ++row) {
    const CellRow* cells = rule.cells->rowOf(rule.cellHead, row);
    Index decided = 0;
    for (const KeyRuns* runs : {cells ? &cells->visible : nullptr, cells ? &cells->masked : nullptr})
      for (const KeyRun& run : runs ? *runs : KeyRuns{})
        decided += std::max<Index>(0, std::min(run.end, sizes.keys) - run.begin);
    if (decided < sizes.keys) return false;
  }
  return true;
}

constinit const Pattern patterns::painted{
    .info = {.name = "painted",
             .title = "Painted",
             .help = "Cells painted by hand in the mask studio; other layers decide the rest.",
             .formula = "painted visible",
             .users = "your own masks",
             .parameters = kPainting,
             .comparesPositions = false},
    .visible = [](const Number&,
                  const Number& j) { return called("painted “{name}”", at(kCells, row(), j) == 1); },
    .cells = paintedCells,
    .where = " where painted",
};

constinit const Pattern patterns::file{
    .info = {.name = "file",
             .title = "From a file",
             .help = "A mask from another program, in any of the three conventions.",
             .formula = "visible in the file",
             .users = "masks exported from other programs",
             .parameters = kFile,
             .comparesPositions = false},
    .visible = [](const Number&,
                  const Number& j) { return called("file “{path}”", at(kCells, row(), j) == 1); },
    .cells = fileCells,
    .where = " where the file says",
};

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
    .info = {.name = "intervals",
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
