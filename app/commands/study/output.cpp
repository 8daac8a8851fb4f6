#include "app/commands/study/output.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "app/commands/study/numbers.h"
#include "attention/formats/tables.h"

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::Matrix;
using attention::Result;
using attention::Status;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kDigits = std::numeric_limits<float>::max_digits10;  // reads back as the same float
const StudiedHeads kNoText;

std::string dumped(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Null if it isn't finite.
Json numberJson(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.{}g}", value, kDigits));
}

template <typename Values>
Json rowsJson(const Values& values) {
  Json rows = Json::array();
  for (Index row = 0; row < values.rows(); ++row) {
    Json& cells = rows.emplace_back(Json::array());
    for (Index col = 0; col < values.cols(); ++col)
      if constexpr (std::is_same_v<typename Values::Scalar, float>)
        cells.push_back(numberJson(double{values(row, col)}));
      else
        cells.push_back(values(row, col));
  }
  return rows;
}

double numberIn(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

template <typename Values>
Values rowsIn(const Json& json) {
  if (json.empty()) return {};
  Values values(std::ssize(json), std::ssize(json[0]));
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col)
      values(row, col) = static_cast<typename Values::Scalar>(numberIn(json[asSize(row)].at(asSize(col))));
  return values;
}

/// What the columns of a text's patch are.
std::string patchColumns(const StudiedHeads& text, const std::string& piece) {
  return text.patchPerHead ? "heads" : piece == "keys" || piece == "values" ? "kv_heads" : "tokens";
}

}  // namespace

StudiedHeads studiedText(const std::string& line) {
  const Json json = Json::parse(line);
  StudiedHeads text;
  text.asked.line = json.at("line");
  text.asked.text = json.at("text");
  text.asked.other = json.value("other", "");
  text.asked.ids = json.value("given_ids", std::vector<Index>());
  text.asked.otherIds = json.value("other_given_ids", std::vector<Index>());
  text.problem = json.value("problem", "");
  if (!text.problem.empty()) return text;
  text.tokens = json.at("tokens").get<std::vector<std::string>>();
  text.ids = json.at("input_ids").get<std::vector<Index>>();
  text.answer = json.at("answer");
  text.otherAnswer = json.at("other_answer");
  text.answerIds = json.at("answer_ids").get<std::vector<Index>>();
  text.otherAnswerIds = json.at("other_answer_ids").get<std::vector<Index>>();
  text.shared = json.value("answers_begin_with", "");
  for (const auto& [name, to] : numbersOf(text)) *to = numberIn(json.at(name));
  for (const attention::Detector* detector : attention::allDetectors())
    if (const auto found = json.find(detector->name); found != json.end()) {
      text.detectors.push_back(rowsIn<Matrix>(*found));
      const auto overAll = json.find(std::string(detector->name) + kOverAllRows);
      text.overAllRows.push_back(overAll == json.end() ? Matrix() : rowsIn<Matrix>(*overAll));
    }
  for (const auto& [name, to] :
       {std::pair("loss", &text.loss), {"attribution", &text.attribution}, {"patch", &text.patch}})
    if (const auto found = json.find(name); found != json.end()) *to = rowsIn<Matrix>(*found);
  text.patchPerHead = json.value("patch_columns", "heads") == "heads";
  if (const auto found = json.find("strongest"); found != json.end()) {
    text.strongest = rowsIn<Matrix>(found->at("weight"));
    text.query = rowsIn<decltype(text.query)>(found->at("query"));
    text.key = rowsIn<decltype(text.key)>(found->at("key"));
  }
  return text;
}

std::string textJson(const StudiedHeads& text, const std::string& piece) {
  Json json{{"line", text.asked.line}, {"text", text.asked.text}};
  if (!text.asked.other.empty()) json["other"] = text.asked.other;
  if (!text.asked.ids.empty()) json["given_ids"] = text.asked.ids;
  if (!text.asked.otherIds.empty()) json["other_given_ids"] = text.asked.otherIds;
  if (!text.problem.empty()) {
    json["problem"] = text.problem;
    return dumped(json);
  }
  json["tokens"] = text.tokens;
  json["input_ids"] = text.ids;
  json["answer"] = text.answer;
  json["other_answer"] = text.otherAnswer;
  json["answer_ids"] = text.answerIds;
  json["other_answer_ids"] = text.otherAnswerIds;
  if (!text.shared.empty()) json["answers_begin_with"] = text.shared;
  for (const auto& [name, value] : numbersOf(text)) json[name] = numberJson(*value);
  for (const auto& [name, values] : columnsOf(text)) json[name] = rowsJson(*values);
  if (text.patch.size() > 0) {
    json["patched"] = piece;
    json["patch_columns"] = patchColumns(text, piece);
  }
  if (text.query.size() > 0)
    json["strongest"] = {
        {"weight", rowsJson(text.strongest)}, {"query", rowsJson(text.query)}, {"key", rowsJson(text.key)}};
  return dumped(json);
}

namespace {

/// What all finished texts together have.
struct Studied {
  std::vector<HeadColumn> columns;        ///< `most` holds lines of the file
  Index patchRows = 0, patchColumns = 0;  ///< the largest patch that isn't per head
  std::string patchAt;                    ///< what its columns are
};

Result<Studied> overview(const StudyReport& report, const StudyProgress& progress) {
  Studied studied;
  TextSummary summary(report.layers, report.heads);
  const Status status = progress.each([&](const StudiedHeads& text) {
    summary.add(text.asked.line, text);
    if (!text.patchPerHead && text.patch.size() > 0) {
      studied.patchAt = patchColumns(text, report.piece);
      studied.patchRows = std::max(studied.patchRows, text.patch.rows());
      studied.patchColumns = std::max(studied.patchColumns, text.patch.cols());
    }
    return attention::success();
  });
  if (!status) return status.error();
  studied.columns = summary.columns();
  return studied;
}

Json definitionsJson(const StudyReport& report) {
  Json json = Json::object();
  for (const auto& [name, meaning] : definitionsOf(report.piece, report.biases)) json[name] = meaning;
  return json;
}

Json summaryOf(const Studied& studied) {
  Json json = Json::object();
  for (const HeadColumn& column : studied.columns)
    json[column.name] = {{"mean", rowsJson(column.mean)},
                         {"standard_deviation", rowsJson(column.spread)},
                         {"sample_standard_deviation", rowsJson(sampleDeviation(column))},
                         {"texts", rowsJson(column.texts)},
                         {"most_at_line", rowsJson(column.most)}};
  return json;
}

/// The text's values for a column of the summary; null if it has none.
const Matrix* columnIn(const StudiedHeads& text, const std::string& name) {
  for (const auto& [other, values] : columnsOf(text))
    if (other == name && (values != &text.patch || text.patchPerHead)) return values;
  return nullptr;
}

std::string csvNumber(float value) {
  return std::isfinite(value) ? fmt::format(",{:.{}g}", value, kDigits) : ",";
}

/// The rows of one text: one for each head, then one for each place of a patch that isn't per head.
std::string csvRows(const StudyReport& report, const Studied& studied, const StudiedHeads& text) {
  std::string front =
      fmt::format("{},{},{},{}", text.asked.line, attention::quotedField(text.asked.text),
                  attention::quotedField(text.answer), attention::quotedField(text.otherAnswer));
  for (const auto& [name, value] : numbersOf(text)) front += csvNumber(static_cast<float>(*value));
  const bool places = !studied.patchAt.empty();
  const auto strongest = strongestOf(text);
  std::string csv;
  for (Index layer = 0; layer < report.layers; ++layer)
    for (Index head = 0; head < report.heads; ++head) {
      csv += fmt::format("{},{},{}", front, layer, head);
      for (const HeadColumn& column : studied.columns) {
        const Matrix* const values = columnIn(text, column.name);
        csv += csvNumber(values ? (*values)(layer, head) : kNone);
      }
      for (const auto& [name, values] : strongest)
        csv += csvNumber(values.size() > 0 ? values(layer, head) : kNone);
      csv += places ? ",,\n" : "\n";
    }
  if (!places || text.patchPerHead) return csv;
  const std::string none(studied.columns.size() + strongest.size(), ',');
  for (Index layer = 0; layer < text.patch.rows(); ++layer)
    for (Index at = 0; at < text.patch.cols(); ++at)
      csv += fmt::format("{},{},{},{}{}\n", front, layer, none, at, csvNumber(text.patch(layer, at)));
  return csv;
}

/// Calls `produce(write)` with a function that writes text, and stops at its error or that of writing.
template <typename Produce>
Status writeText(const std::string& path, const Produce& produce) {
  return attention::writeFileInParts(path, [&](const attention::FileSink& sink) {
    return produce([&](const std::string& text) -> Status {
      if (sink({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}))
        return attention::success();
      return Error{"the file cannot be written"};  // writeFileInParts says why
    });
  });
}

/// Describes the columns in the file beside it that CSV on the Web names (W3C 2015, Metadata Vocabulary for
/// Tabular Data, "csv-metadata.json").
Status writeColumns(const std::string& path, const StudyReport& report) {
  Json columns = Json::array();
  for (const auto& [name, meaning] : definitionsOf(report.piece, report.biases))
    columns.push_back({{"name", name}, {"dc:description", meaning}});
  const Json about{{"@context", "http://www.w3.org/ns/csvw"},
                   {"url", std::filesystem::path(path).filename().string()},
                   {"dc:source", report.model},
                   {"tableSchema", {{"columns", std::move(columns)}}}};
  return writeText(path + "-metadata.json",
                   [&](const auto& write) { return write(dumped(about, 1) + "\n"); });
}

Status writeCsv(const std::string& path, const StudyReport& report, const Studied& studied,
                const StudyProgress& progress) {
  if (const Status status = writeColumns(path, report); !status) return status;
  return writeText(path, [&](const auto& write) -> Status {
    std::string head = "line,text,answer,other_answer";
    for (const auto& [name, value] : numbersOf(kNoText)) head += std::string(",") + name;
    head += ",layer,head";
    for (const HeadColumn& column : studied.columns) head += "," + column.name;
    for (const auto& [name, values] : strongestOf(kNoText)) head += std::string(",") + name;
    if (!studied.patchAt.empty()) head += studied.patchAt == "tokens" ? ",token,patch" : ",kv_head,patch";
    (void)write(head + "\n");
    return progress.each([&](const StudiedHeads& text) {
      return text.problem.empty() ? write(csvRows(report, studied, text)) : attention::success();
    });
  });
}

Status writeJson(const std::string& path, const StudyReport& report, const Studied& studied,
                 const StudyProgress& progress) {
  return writeText(path, [&](const auto& write) -> Status {
    std::string front = dumped(Json{{"model", report.model},
                                    {"layers", report.layers},
                                    {"heads", report.heads},
                                    {"definitions", definitionsJson(report)},
                                    {"summary", summaryOf(studied)}},
                               1);
    front.resize(front.size() - 2);  // without the end of the object
    (void)write(front + ",\n \"texts\": [");
    std::string_view between = "\n  ";
    const Status status = progress.each([&](const StudiedHeads& text) {
      return write(std::string(std::exchange(between, ",\n  ")) + textJson(text, report.piece));
    });
    (void)write("\n ]\n}\n");
    return status;
  });
}

/// A text's values, NaN where it has none.
Matrix padded(const Matrix* values, Index rows, Index columns) {
  Matrix all = Matrix::Constant(rows, columns, kNone);
  if (values) all.topLeftCorner(values->rows(), values->cols()) = *values;
  return all;
}

Json aboutText(const StudiedHeads& text) {
  Json one{{"line", text.asked.line},
           {"text", text.asked.text},
           {"answer", text.answer},
           {"other_answer", text.otherAnswer}};
  if (!text.problem.empty()) one["problem"] = text.problem;
  return one;
}

Status writeArrays(const std::string& path, const StudyReport& report, const Studied& studied,
                   const StudyProgress& progress) {
  const auto size = [](Index n) { return static_cast<std::uint64_t>(n); };
  const std::uint64_t texts = size(progress.done());
  attention::NpzWriter arrays(path);
  std::vector<std::size_t> numbers, columns, strongest;
  for (const auto& [name, value] : numbersOf(kNoText)) numbers.push_back(arrays.addNumbers(name, {texts}));
  for (const HeadColumn& column : studied.columns)
    columns.push_back(arrays.addNumbers(column.name, {texts, size(report.layers), size(report.heads)}));
  for (const auto& [name, values] : strongestOf(kNoText))
    strongest.push_back(arrays.addNumbers(name, {texts, size(report.layers), size(report.heads)}));
  const bool places = !studied.patchAt.empty();
  const std::size_t patch =
      places ? arrays.addNumbers("patch", {texts, size(studied.patchRows), size(studied.patchColumns)}) : 0;
  const std::size_t about = arrays.addText("about");
  const auto put = [&](std::size_t array, const Matrix& values) {
    arrays.put(array, std::span<const float>(values.data(), static_cast<std::size_t>(values.size())));
  };
  Json front{{"model", report.model}, {"patched", report.piece}, {"definitions", definitionsJson(report)}};
  if (places) front["patch_columns"] = studied.patchAt;
  std::string open = dumped(front, -1);
  open.back() = ',';
  arrays.put(about, open + "\"texts\":[");
  std::string_view between = "";
  const Status status = progress.each([&](const StudiedHeads& text) {
    const bool there = text.problem.empty();
    std::size_t at = 0;
    for (const auto& [name, value] : numbersOf(text))
      put(numbers[at++], Matrix::Constant(1, 1, there ? static_cast<float>(*value) : kNone));
    at = 0;
    for (const auto& [name, values] : strongestOf(text))
      put(strongest[at++], padded(values.size() > 0 ? &values : nullptr, report.layers, report.heads));
    for (std::size_t i = 0; i < columns.size(); ++i)
      put(columns[i], padded(columnIn(text, studied.columns[i].name), report.layers, report.heads));
    if (places)
      put(patch, padded(text.patchPerHead ? nullptr : &text.patch, studied.patchRows, studied.patchColumns));
    arrays.put(about, std::string(std::exchange(between, ",")) + dumped(aboutText(text), -1));
    return attention::success();
  });
  if (!status) return status;
  arrays.put(about, std::string_view("]}"));
  return arrays.finish();
}

}  // namespace

Status checkStudyFile(const std::string& path) {
  const auto ending = std::filesystem::path(path).extension();
  if (ending == ".json" || ending == ".csv" || ending == ".npz") return attention::success();
  return Error{attention::quotedText(path) + " doesn't end in .json, .csv or .npz"};
}

Status writeStudy(const std::string& path, const StudyReport& report, const StudyProgress& progress) {
  const auto studied = overview(report, progress);
  if (!studied) return studied.error();
  const auto ending = std::filesystem::path(path).extension();
  const auto write = ending == ".npz" ? writeArrays : ending == ".csv" ? writeCsv : writeJson;
  return write(path, report, *studied, progress);
}

}  // namespace headscope::app
