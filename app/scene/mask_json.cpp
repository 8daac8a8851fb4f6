#include <fmt/core.h>

#include "app/scene/json_text.h"
#include "app/scene/mask_rules.h"
#include "attention/masks/runs.h"

namespace headscope::app {

using attention::CellRow;
using attention::CellTable;
using attention::KeyRun;
using attention::KeyRuns;
using attention::TextMarks;

namespace {

Json runsJson(const KeyRuns& runs) {
  Json list = Json::array();
  for (const KeyRun& run : runs) list.push_back({run.begin, run.end});
  return list;
}

Json paintingJson(const std::string& name, const CellTable& table) {
  Json rows = Json::array();
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    if (const auto& cells = table.rows[row])
      rows.push_back(
          {{"row", row}, {"visible", runsJson(cells->visible)}, {"masked", runsJson(cells->masked)}});
  return {{"name", name}, {"queries", table.queries}, {"keys", table.keys}, {"rows", rows}};
}

Json marksJson(const TextMarks& marks) {
  Json json = Json::object();
  if (marks.documentStarts) json["documents"] = *marks.documentStarts;
  if (marks.prefixLength) json["prefix"] = *marks.prefixLength;
  if (marks.images) json["images"] = runsJson(*marks.images);
  if (marks.globals) json["globals"] = *marks.globals;
  if (marks.treePrefix) json["tree_prefix"] = *marks.treePrefix;
  if (marks.parents) json["parents"] = *marks.parents;
  if (marks.gridHeight) json["grid_height"] = *marks.gridHeight;
  if (marks.gridWidth) json["grid_width"] = *marks.gridWidth;
  return json;
}

bool isWhole(const JsonText& item, Index low, Index high) {
  const auto number = item.wholeNumber();
  return number && *number >= low && *number <= high;
}

/// "mask.marks[2] is 7": the start of a message about a list entry.
std::string found(const ObjectReader& in, const char* key, std::size_t at, const JsonText& item) {
  return fmt::format("{}[{}] is {}", in.at(key), at, item.shown());
}

/// Reads whole numbers from low to kMaxTokens; they must ascend if `ascending`.
std::optional<std::vector<Index>> readNumbers(ObjectReader& in, const char* key, Index low, bool ascending) {
  const auto list = in.list(key);
  if (!list) return std::nullopt;
  std::vector<Index> numbers;
  for (const JsonText& item : *list) {
    const Index least = ascending && !numbers.empty() ? numbers.back() + 1 : low;
    if (!isWhole(item, least, kMaxTokens)) {
      in.note(fmt::format("{}, expected {}whole numbers from {} to {}", found(in, key, numbers.size(), item),
                          ascending ? "ascending " : "", low, kMaxTokens));
      return std::nullopt;
    }
    numbers.push_back(*item.wholeNumber());
  }
  return numbers;
}

/// Reads pairs [begin, end) that ascend and don't overlap.
std::optional<KeyRuns> readRuns(ObjectReader& in, const char* key, Index end) {
  const auto list = in.list(key);
  if (!list) return std::nullopt;
  KeyRuns runs;
  for (const JsonText& item : *list) {
    const Index from = runs.empty() ? 0 : runs.back().end;
    const auto pair = item.isList() ? item.entries() : std::vector<JsonText>{};
    if (pair.size() != 2 || !isWhole(pair[0], from, end) ||
        !isWhole(pair[1], *pair[0].wholeNumber() + 1, end)) {
      in.note(fmt::format("{}, expected ascending pairs [begin, end) up to {}",
                          found(in, key, runs.size(), item), end));
      return std::nullopt;
    }
    runs.push_back({*pair[0].wholeNumber(), *pair[1].wholeNumber()});
  }
  return runs;
}

std::optional<Index> readCount(ObjectReader& in, const char* key, Index low) {
  // A value that no file can contain.
  constexpr Index kMissing = std::numeric_limits<Index>::min();
  Index value = kMissing;
  in.read(key, value);
  if (value == kMissing) return std::nullopt;
  if (value < low || value > kMaxTokens)
    in.note(fmt::format("{} is {}, expected {} to {}", in.at(key), value, low, kMaxTokens));
  return value;
}

}  // namespace

void readValue(ObjectReader& in, const char* key, SharedMarks& shared) {
  const auto list = in.list(key);
  if (!list) return;
  std::vector<TextMarks> marks;
  for (std::size_t i = 0; i < list->size() && in.fault().empty(); ++i) {
    ObjectReader line((*list)[i], in.at(key + (fmt::format("[{}]", i))), in.fault());
    TextMarks& mark = marks.emplace_back();
    mark.documentStarts = readNumbers(line, "documents", 0, true);
    mark.prefixLength = readCount(line, "prefix", 0);
    mark.images = readRuns(line, "images", kMaxTokens);
    mark.globals = readNumbers(line, "globals", 0, true);
    mark.treePrefix = readCount(line, "tree_prefix", 0);
    mark.parents = readNumbers(line, "parents", -1, false);
    mark.gridHeight = readCount(line, "grid_height", 1);
    mark.gridWidth = readCount(line, "grid_width", 1);
    line.finish();
  }
  shared = std::move(marks);
}

namespace {

void readCells(const JsonText& json, const std::string& path, ObjectReader& in, CellTable& table) {
  ObjectReader entry(json, path, in.fault());
  Index row = -1;
  entry.read("row", row);
  CellRow cells;
  cells.visible = readRuns(entry, "visible", table.keys).value_or(KeyRuns{});
  cells.masked = readRuns(entry, "masked", table.keys).value_or(KeyRuns{});
  entry.finish();
  if (row < 0 || row >= table.queries)
    return entry.note(
        fmt::format("{}.row is {}, expected 0 or more and below the {} queries", path, row, table.queries));
  std::shared_ptr<const CellRow>& place = table.rows[static_cast<std::size_t>(row)];
  if (place) return entry.note(fmt::format("{}.row is {}, which an earlier row has", path, row));
  KeyRuns both;
  attention::intersect(cells.visible, cells.masked, both);
  if (!both.empty())
    return entry.note(
        fmt::format("{}.masked contains key {}, which is also visible", path, both.front().begin));
  // Merges runs that touch.
  attention::sortRuns(cells.visible);
  attention::sortRuns(cells.masked);
  place = std::make_shared<const CellRow>(std::move(cells));
}

CellTable readPainting(const JsonText& json, const std::string& path, ObjectReader& in, std::string& name) {
  ObjectReader entry(json, path, in.fault());
  CellTable table;
  entry.read("name", name);
  entry.read("queries", table.queries);
  entry.read("keys", table.keys);
  const auto rows = entry.list("rows");
  entry.finish();
  const auto check = [&](const char* key, Index size) {
    if (size < 0 || size > kMaxTokens)
      entry.note(fmt::format("{} is {}, expected 0 to {}", entry.at(key), size, kMaxTokens));
  };
  check("queries", table.queries);
  check("keys", table.keys);
  if (!in.fault().empty()) return table;
  table.rows.resize(static_cast<std::size_t>(table.queries));
  for (std::size_t row = 0; rows && row < rows->size() && in.fault().empty(); ++row)
    readCells((*rows)[row], fmt::format("{}.rows[{}]", path, row), in, table);
  return table;
}

}  // namespace

void readValue(ObjectReader& in, const char* key, Paintings& paintings) {
  // A row takes memory even if nothing is painted on it.
  constexpr Index kMaxRows = Index{1} << 20;
  const auto list = in.list(key);
  if (!list) return;
  paintings.clear();
  Index rows = 0;
  for (std::size_t i = 0; i < list->size() && in.fault().empty(); ++i) {
    const std::string path = in.at(key + (fmt::format("[{}]", i)));
    std::string name;
    CellTable table = readPainting((*list)[i], path, in, name);
    rows += table.queries;
    if (name.empty()) in.note(path + ".name is empty, expected what painted(\"…\") names");
    if (paintings.contains(name))
      in.note(path + ".name is " + attention::quotedText(name) + ", which another painting has");
    if (rows > kMaxRows) in.note(fmt::format("{} have more than {} queries in all", in.at(key), kMaxRows));
    paintings[name] = std::move(table);
  }
}

void readValue(ObjectReader& in, const char* key, SharedLayers& layers) {
  std::string text = attention::maskText(layers);
  in.read(key, text);
  attention::ParsedMask parsed = attention::parseMask(text);
  if (parsed.error)
    in.note(in.at(key) + ": " + parsed.error->message + "\n" +
            attention::caretText(text, parsed.error->offset));
  else
    layers = std::move(parsed.layers);
}

Json valueJson(const SharedLayers& layers) {
  return attention::maskText(layers);
}

Json valueJson(const Paintings& paintings) {
  Json list = Json::array();
  for (const auto& [name, table] : paintings) list.push_back(paintingJson(name, *table));
  return list;
}

Json valueJson(const SharedMarks& marks) {
  Json list = Json::array();
  for (const TextMarks& line : *marks) list.push_back(marksJson(line));
  return list;
}

void readFirstMask(ObjectReader& in, MaskSetup& mask) {
  bool causal = true, padding = true, window = false, sinks = false;
  Index windowSize = 4, sinkCount = 1;
  in.read("causal", causal);
  in.read("padding", padding);
  in.read("window", window);
  in.read("window_size", windowSize);
  in.read("sinks", sinks);
  in.read("sink_count", sinkCount);
  const auto check = [&](const char* key, Index value) {
    if (value < 1 || value > kMaxTokens)
      in.note(fmt::format("{} is {}, expected 1 to {}", in.at(key), value, kMaxTokens));
  };
  check("window_size", windowSize);
  check("sink_count", sinkCount);
  if (!in.fault().empty()) return;
  mask.layers = layersOf({causal, padding, window ? windowSize : 0, window && sinks ? sinkCount : 0});
}

Json valueJson(const SharedTable& shared) {
  const attention::Table& table = *shared;
  Json rows = Json::array();
  for (Index row = 0; row < table.values.rows(); ++row) {
    Json values = Json::array();
    for (Index col = 0; col < table.values.cols(); ++col) values.push_back(table.values(row, col));
    rows.push_back(
        {{"name", row < static_cast<Index>(table.names.size()) ? table.names[row] : ""}, {"values", values}});
  }
  return rows;
}

namespace {

void readTableRow(const JsonText& json, const std::string& path, Index row, attention::Table& table,
                  JsonFault& fault) {
  ObjectReader reader(json, path, fault);
  std::string rowName;
  reader.read("name", rowName);
  table.names.push_back(rowName);
  const auto values = reader.list("values");
  reader.finish();
  if (!values || !fault.empty()) return;
  const auto cols = static_cast<Index>(values->size());
  if (row == 0 ? cols == 0 || cols > kMaxModelDim : cols != table.values.cols())
    return reader.note(
        fmt::format("{} has {} values, expected {}", path, cols,
                    row == 0 ? fmt::format("1 to {}", kMaxModelDim) : std::to_string(table.values.cols())));
  if (row == 0) table.values.resize(table.values.rows(), cols);
  for (Index col = 0; col < cols; ++col) {
    const auto value = (*values)[static_cast<std::size_t>(col)].number();
    if (!value || !std::isfinite(static_cast<float>(*value)))
      return reader.note(fmt::format("{}.values[{}] is not a finite number", path, col));
    table.values(row, col) = static_cast<float>(*value);
  }
}

}  // namespace

void readValue(ObjectReader& reader, const char* key, SharedTable& shared) {
  const auto rows = reader.list(key);
  if (!rows) return;
  attention::Table table;
  if (rows->size() > static_cast<std::size_t>(kMaxTokens))
    return reader.note(
        fmt::format("{} has {} rows, expected at most {}", reader.at(key), rows->size(), kMaxTokens));
  table.values.resize(static_cast<Index>(rows->size()), 0);
  for (std::size_t row = 0; row < rows->size() && reader.fault().empty(); ++row)
    readTableRow((*rows)[row], reader.at(fmt::format("{}[{}]", key, row)), static_cast<Index>(row), table,
                 reader.fault());
  shared = std::move(table);
}

}  // namespace headscope::app
