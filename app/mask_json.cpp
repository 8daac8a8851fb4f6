#include "app/mask_json.h"

#include <algorithm>

#include "app/mask_rules.h"
#include "app/table_json.h"

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

/// Whole numbers from low to kMaxTokens; ascending where `ascending`.
std::optional<std::vector<Index>> readNumbers(ObjectReader& in, const char* key, Index low, bool ascending) {
  const Json* list = in.array(key);
  if (!list) return std::nullopt;
  std::vector<Index> numbers;
  for (const Json& item : *list) {
    const bool whole = item.is_number_integer() && item >= low && item <= kMaxTokens;
    if (!whole || (ascending && !numbers.empty() && item.get<Index>() <= numbers.back())) {
      in.note(in.at(key) + " holds " + item.dump().substr(0, 40) + ", expected " +
              (ascending ? "ascending " : "") + "whole numbers from " + std::to_string(low) + " to " +
              std::to_string(kMaxTokens));
      return std::nullopt;
    }
    numbers.push_back(item);
  }
  return numbers;
}

/// Pairs [begin, end) in ascending order that don't overlap.
std::optional<KeyRuns> readRuns(ObjectReader& in, const char* key) {
  const Json* list = in.array(key);
  if (!list) return std::nullopt;
  KeyRuns runs;
  for (const Json& item : *list) {
    const bool pair = item.is_array() && item.size() == 2 && item[0].is_number_unsigned() &&
                      item[1].is_number_unsigned() && item[1] <= kMaxTokens && item[0] < item[1];
    if (!pair || (!runs.empty() && item[0].get<Index>() < runs.back().end)) {
      in.note(in.at(key) + " holds " + item.dump().substr(0, 40) +
              ", expected ascending pairs [begin, end) up to " + std::to_string(kMaxTokens));
      return std::nullopt;
    }
    runs.push_back({item[0], item[1]});
  }
  return runs;
}

std::optional<Index> readCount(ObjectReader& in, const char* key, Index low) {
  Index value = low - 1;
  in.read(key, value);
  if (value == low - 1) return std::nullopt;
  if (value < low || value > kMaxTokens)
    in.note(in.at(key) + " is " + std::to_string(value) + ", expected " + std::to_string(low) + " to " +
            std::to_string(kMaxTokens));
  return value;
}

void readMarks(ObjectReader& in, std::vector<TextMarks>& marks) {
  const Json* list = in.array("marks");
  if (!list) return;
  marks.clear();
  for (std::size_t i = 0; i < list->size() && in.error().empty(); ++i) {
    ObjectReader line((*list)[i], in.at("marks[" + std::to_string(i) + "]"), in.error());
    TextMarks& mark = marks.emplace_back();
    mark.documentStarts = readNumbers(line, "documents", 0, true);
    mark.prefixLength = readCount(line, "prefix", 0);
    mark.images = readRuns(line, "images");
    mark.globals = readNumbers(line, "globals", 0, true);
    mark.treePrefix = readCount(line, "tree_prefix", 0);
    mark.parents = readNumbers(line, "parents", -1, false);
    mark.gridHeight = readCount(line, "grid_height", 1);
    mark.gridWidth = readCount(line, "grid_width", 1);
    line.finish();
  }
}

void readCells(const Json& json, const std::string& path, ObjectReader& in, CellTable& table) {
  ObjectReader entry(json, path, in.error());
  Index row = -1;
  entry.read("row", row);
  CellRow cells;
  cells.visible = readRuns(entry, "visible").value_or(KeyRuns{});
  cells.masked = readRuns(entry, "masked").value_or(KeyRuns{});
  entry.finish();
  if (row < 0 || row >= table.queries)
    return entry.note(path + ".row is " + std::to_string(row) + ", expected 0 to " +
                      std::to_string(table.queries - 1));
  for (const KeyRuns* runs : {&cells.visible, &cells.masked})
    if (!runs->empty() && runs->back().end > table.keys)
      return entry.note(path + " ends at key " + std::to_string(runs->back().end) + ", expected at most " +
                        std::to_string(table.keys));
  table.rows[static_cast<std::size_t>(row)] = std::make_shared<const CellRow>(std::move(cells));
}

void readPaintings(ObjectReader& in, MaskSetup& mask) {
  const Json* list = in.array("paintings");
  if (!list) return;
  mask.paintings.clear();
  for (std::size_t i = 0; i < list->size() && in.error().empty(); ++i) {
    const std::string path = in.at("paintings[" + std::to_string(i) + "]");
    ObjectReader entry((*list)[i], path, in.error());
    std::string name;
    CellTable table;
    entry.read("name", name);
    entry.read("queries", table.queries);
    entry.read("keys", table.keys);
    const Json* rows = entry.array("rows");
    entry.finish();
    const auto fits = [](Index size) { return size >= 1 && size <= kMaxTokens; };
    if (!fits(table.queries) || !fits(table.keys))
      return entry.note(path + " is " + std::to_string(table.queries) + " × " + std::to_string(table.keys) +
                        ", expected at most " + std::to_string(kMaxTokens) + " a side");
    table.rows.resize(static_cast<std::size_t>(table.queries));
    for (std::size_t row = 0; rows && row < rows->size() && in.error().empty(); ++row)
      readCells((*rows)[row], path + ".rows[" + std::to_string(row) + "]", in, table);
    mask.paintings[name] = std::move(table);
  }
}

void readLayers(ObjectReader& in, const char* key, attention::MaskLayers& layers) {
  std::string text = attention::maskText(layers);
  in.read(key, text);
  attention::ParsedMask parsed = attention::parseMask(text);
  if (parsed.error)
    in.note(in.at(key) + ": " + parsed.error->message + "\n" +
            attention::caretText(text, parsed.error->offset));
  else
    layers = std::move(parsed.layers);
}

}  // namespace

Json maskJson(const MaskSetup& mask) {
  Json paintings = Json::array(), marks = Json::array();
  for (const auto& [name, table] : mask.paintings) paintings.push_back(paintingJson(name, *table));
  for (const TextMarks& line : mask.marks) marks.push_back(marksJson(line));
  return {{"expression", attention::maskText(mask.layers)},
          {"paintings", paintings},
          {"marks", marks},
          {"additive", tableJson(*mask.additive)},
          {"compare", mask.compare},
          {"other", attention::maskText(mask.other)}};
}

void readMask(ObjectReader& in, MaskSetup& mask) {
  readLayers(in, "expression", mask.layers);
  readPaintings(in, mask);
  readMarks(in, mask.marks);
  readTable(in, "additive", mask.additive);
  in.read("compare", mask.compare);
  readLayers(in, "other", mask.other);
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
      in.note(in.at(key) + " is " + std::to_string(value) + ", expected 1 to " + std::to_string(kMaxTokens));
  };
  check("window_size", windowSize);
  check("sink_count", sinkCount);
  if (!in.error().empty()) return;
  mask.layers = layersOf({causal, padding, window ? windowSize : 0, window && sinks ? sinkCount : 0});
}

}  // namespace headscope::app
