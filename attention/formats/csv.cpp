#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "attention/formats/csv_reader.h"
#include "attention/formats/quote.h"
#include "attention/formats/tables.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

/// Collects rows and decides whether the first row is a header and the first column holds names.
class TableBuilder {
 public:
  Status add(std::vector<CsvField>& fields, std::size_t line) {
    if (width_ == 0) {
      width_ = fields.size();
      firstLine_ = line;
      if (isHeader(fields)) {
        const auto& first = fields[0].text;
        namesByHeader_ = width_ > 1 && (first.empty() || first == "name" || first == "token");
        return success();
      }
    }
    if (fields.size() != width_) {
      return Error{fmt::format("line {} has {} fields, expected {} as in line {}", line, fields.size(),
                               width_, firstLine_)};
    }
    if (names_.size() == static_cast<std::size_t>(kMaxTableRows)) {
      return Error{fmt::format("has more than {} rows of numbers", kMaxTableRows)};
    }
    const auto number = readCsvNumber(fields[0].text);
    const bool finite = number && std::isfinite(*number);
    numbersInFirst_ = numbersInFirst_ || finite;
    textInFirst_ = textInFirst_ || !number;
    if (!finite && !badLine_) {
      badLine_ = line;
      badText_ = fields[0].text;
    }
    firstColumn_.push_back(number.value_or(0.0F));
    names_.push_back(std::move(fields[0].text));
    for (std::size_t column = 1; column < width_; ++column) {
      const auto value = readCsvNumber(fields[column].text);
      if (!value || !std::isfinite(*value)) return badCell(line, column, fields[column].text);
      values_.push_back(*value);
    }
    return success();
  }

  Result<Table> finish() {
    if (names_.empty()) return Error{"has no row of numbers"};
    const bool named = namesByHeader_ || (width_ > 1 && textInFirst_ && !numbersInFirst_);
    if (!named && badLine_) return badCell(*badLine_, 0, badText_);
    const auto rows = static_cast<Index>(names_.size());
    const auto rest = static_cast<Index>(width_) - 1;
    const MatrixView others(values_.data(), rows, rest);
    Table table;
    table.values.resize(rows, named ? rest : rest + 1);
    table.values.rightCols(rest) = others;
    if (!named) table.values.col(0) = Eigen::Map<const Vector>(firstColumn_.data(), rows);
    table.names = named ? std::move(names_) : std::vector<std::string>(names_.size());
    for (const auto& name : table.names) {
      if (const auto status = validateUtf8(name); !status) {
        return Error{"the row name " + quotedText(name) + " is not UTF-8: " + status.error().message};
      }
    }
    return table;
  }

 private:
  static bool isHeader(const std::vector<CsvField>& fields) {
    for (const auto& field : fields) {
      if (readCsvNumber(field.text)) return false;
    }
    return true;
  }

  static Error badCell(std::size_t line, std::size_t column, const std::string& text) {
    return Error{fmt::format("line {}, column {}: found {}, expected a finite number", line, column + 1,
                             text.empty() ? "an empty field" : quotedText(text))};
  }

  std::size_t width_ = 0, firstLine_ = 0;
  bool namesByHeader_ = false, numbersInFirst_ = false, textInFirst_ = false;
  std::optional<std::size_t> badLine_;
  std::string badText_;
  std::vector<std::string> names_;
  std::vector<float> firstColumn_, values_;
};

std::string quotedField(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string numberText(float value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace

Result<Table> parseCsv(std::string_view text, const std::string& name) {
  const auto plain = utf8Text(text);
  if (!plain) return Error{name + ": " + plain.error().message};
  CsvReader reader(*plain, findCsvSeparator(*plain));
  TableBuilder builder;
  std::vector<CsvField> fields;
  for (;;) {
    const auto more = reader.next(fields);
    if (!more) return Error{name + ": " + more.error().message};
    if (!*more) break;
    const auto status = builder.add(fields, reader.line());
    if (!status) return Error{name + ": " + status.error().message};
  }
  auto table = builder.finish();
  if (!table) return Error{name + ": " + table.error().message};
  return table;
}

std::string formatCsv(const Table& table) {
  require(table.names.size() == static_cast<std::size_t>(table.values.rows()),
          fmt::format("{} names for {} rows", table.names.size(), table.values.rows()));
  const Index cols = table.values.cols();
  bool named = false;
  for (const auto& name : table.names) named = named || !name.empty();
  std::string out;
  if (named) {
    // The header marks the first column as names, even if every name is a number.
    out = "name";
    for (Index col = 0; col < cols; ++col) out += fmt::format(",x{}", col);
    out += '\n';
  }
  for (Index row = 0; row < table.values.rows(); ++row) {
    if (named) out += quotedField(table.names[static_cast<std::size_t>(row)]);
    for (Index col = 0; col < cols; ++col) {
      if (named || col > 0) out += ',';
      out += numberText(table.values(row, col));
    }
    out += '\n';
  }
  return out;
}

}  // namespace headscope::attention
