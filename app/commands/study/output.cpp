#include "app/commands/study/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "attention/formats/files/file_io.h"
#include "attention/formats/npz_write.h"
#include "attention/formats/quote.h"

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::Matrix;
using attention::Status;
using Json = nlohmann::ordered_json;

namespace {

/// A number with six digits, as precise as a float; null if it isn't finite.
Json numberOf(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.6g}", value));
}

template <typename Values>
Json rowsOf(const Values& values) {
  Json rows = Json::array();
  for (Index row = 0; row < values.rows(); ++row) {
    Json& cells = rows.emplace_back(Json::array());
    for (Index col = 0; col < values.cols(); ++col)
      if constexpr (std::is_same_v<typename Values::Scalar, float>)
        cells.push_back(numberOf(double{values(row, col)}));
      else
        cells.push_back(values(row, col));
  }
  return rows;
}

Json jsonOf(const StudyReport& report, const StudiedHeads& text) {
  Json json{{"line", text.asked.line}, {"text", text.asked.text}};
  if (!text.asked.other.empty()) json["other"] = text.asked.other;
  if (!text.problem.empty()) {
    json["problem"] = text.problem;
    return json;
  }
  json["tokens"] = text.tokens;
  json["answer"] = text.answer;
  json["other_answer"] = text.otherAnswer;
  json["logit_difference"] = numberOf(text.difference);
  if (!text.asked.other.empty()) json["other_logit_difference"] = numberOf(text.otherDifference);
  for (const auto& [name, values] : columnsOf(text)) json[name] = rowsOf(*values);
  if (text.patch.size() > 0) json["patched"] = report.piece;
  if (text.query.size() > 0)
    json["strongest"] = {
        {"weight", rowsOf(text.strongest)}, {"query", rowsOf(text.query)}, {"key", rowsOf(text.key)}};
  return json;
}

Json summaryOf(const StudyReport& report) {
  Json json = Json::object();
  for (const HeadColumn& column : summariseTexts(report.texts, report.layers, report.heads)) {
    auto lines = column.most;
    for (Index i = 0; i < lines.size(); ++i)
      if (Index& line = lines.data()[i]; line >= 0) line = report.texts[asSize(line)].asked.line;
    json[column.name] = {{"mean", rowsOf(column.mean)},
                         {"standard_deviation", rowsOf(column.spread)},
                         {"texts", rowsOf(column.texts)},
                         {"most_at_line", rowsOf(lines)}};
  }
  return json;
}

std::string quotedField(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

/// The names of all head columns that any text has.
std::vector<std::string> columnNames(const StudyReport& report) {
  std::vector<std::string> names;
  for (const HeadColumn& column : summariseTexts(report.texts, report.layers, report.heads))
    names.push_back(column.name);
  return names;
}

const Matrix* columnOf(const StudyReport& report, const StudiedHeads& text, const std::string& name) {
  for (const auto& [other, values] : columnsOf(text))
    if (other == name && values->rows() == report.layers && values->cols() == report.heads) return values;
  return nullptr;
}

std::string csvOf(const StudyReport& report) {
  const auto names = columnNames(report);
  std::string csv = "line,text,answer,other_answer,logit_difference,layer,head";
  for (const std::string& name : names) csv += "," + name;
  csv += "\n";
  for (const StudiedHeads& text : report.texts) {
    if (!text.problem.empty()) continue;
    const std::string front =
        fmt::format("{},{},{},{},{:.6g}", text.asked.line, quotedField(text.asked.text),
                    quotedField(text.answer), quotedField(text.otherAnswer), text.difference);
    for (Index layer = 0; layer < report.layers; ++layer)
      for (Index head = 0; head < report.heads; ++head) {
        csv += fmt::format("{},{},{}", front, layer, head);
        for (const std::string& name : names) {
          const Matrix* const values = columnOf(report, text, name);
          const float value = values ? (*values)(layer, head) : std::numeric_limits<float>::quiet_NaN();
          csv += std::isfinite(value) ? fmt::format(",{:.6g}", value) : ",";
        }
        csv += "\n";
      }
  }
  return csv;
}

Status writeArrays(const std::string& path, const StudyReport& report) {
  using attention::NpzArray;
  const auto size = [](Index n) { return static_cast<std::uint64_t>(n); };
  const std::uint64_t texts = report.texts.size();
  std::vector<NpzArray> arrays;
  NpzArray differences{.name = "logit_difference", .shape = {texts}}, others = differences;
  others.name = "other_logit_difference";
  Json about{{"model", report.model}, {"patched", report.piece}, {"texts", Json::array()}};
  for (const StudiedHeads& text : report.texts) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    const bool there = text.problem.empty();
    differences.numbers.push_back(there ? static_cast<float>(text.difference) : none);
    others.numbers.push_back(there && !text.asked.other.empty() ? static_cast<float>(text.otherDifference)
                                                                : none);
    Json one{{"line", text.asked.line},
             {"text", text.asked.text},
             {"answer", text.answer},
             {"other_answer", text.otherAnswer}};
    if (!there) one["problem"] = text.problem;
    about["texts"].push_back(std::move(one));
  }
  arrays.push_back(std::move(differences));
  arrays.push_back(std::move(others));
  for (const std::string& name : columnNames(report)) {
    NpzArray array{.name = name, .shape = {texts, size(report.layers), size(report.heads)}};
    for (const StudiedHeads& text : report.texts) {
      const Matrix* const values = columnOf(report, text, name);
      const Matrix none =
          Matrix::Constant(report.layers, report.heads, std::numeric_limits<float>::quiet_NaN());
      const Matrix& from = values ? *values : none;
      array.numbers.insert(array.numbers.end(), from.data(), from.data() + from.size());
    }
    arrays.push_back(std::move(array));
  }
  arrays.push_back({.name = "about", .text = about.dump()});
  return attention::writeNpz(path, arrays);
}

}  // namespace

std::string textLine(const StudyReport& report, const StudiedHeads& text) {
  return jsonOf(report, text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status checkStudyFile(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".json" || ending == ".csv" || ending == ".npz") return attention::success();
  return Error{attention::quotedText(path) + " ends in none of .json, .csv and .npz"};
}

Status writeStudy(const std::string& path, const StudyReport& report) {
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".npz") return writeArrays(path, report);
  if (ending == ".csv") return attention::writeFile(path, csvOf(report));
  Json json{{"model", report.model},
            {"layers", report.layers},
            {"heads", report.heads},
            {"summary", summaryOf(report)},
            {"texts", Json::array()}};
  for (const StudiedHeads& text : report.texts) json["texts"].push_back(jsonOf(report, text));
  return attention::writeFile(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace headscope::app
