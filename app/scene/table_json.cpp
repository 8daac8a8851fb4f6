#include "app/scene/table_json.h"

#include <fmt/core.h>

#include <cmath>

namespace headscope::app {

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
