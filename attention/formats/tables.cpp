#include "attention/formats/tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attention/formats/files/file_io.h"
#include "attention/formats/npy.h"
#include "attention/formats/quote.h"
#include "attention/text/ascii.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

constexpr std::size_t kMaxColumns = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Whether a decimal number that doesn't fit a float is too small rather than too large, judged by the
/// position of its first nonzero digit and its exponent.
bool isSmall(std::string_view number) {
  const auto mark = std::min(number.find_first_of("eE"), number.size());
  const auto digits = number.substr(0, mark);
  const auto point = static_cast<long long>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<long long>(digits.find_first_of("123456789"));
  if (mark == number.size()) return first > point;
  auto exponentText = number.substr(mark + 1);
  if (exponentText.starts_with('+')) exponentText.remove_prefix(1);
  // An exponent beyond 32 bits outweighs any number of digits.
  int exponent =
      exponentText.starts_with('-') ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
  std::from_chars(exponentText.data(), exponentText.data() + exponentText.size(), exponent);
  return exponent < first - point;
}

char findCsvSeparator(std::string_view text) {
  bool quotes = false, tab = false, semicolon = false, any = false;
  for (const char c : text) {
    if (c == '"') quotes = !quotes;
    if (quotes) continue;
    if ((c == '\n' || c == '\r') && any) break;
    any = any || (c != '\n' && c != '\r');
    tab = tab || c == '\t';
    semicolon = semicolon || c == ';';
  }
  return tab ? '\t' : semicolon ? ';' : ',';
}

/// Splits text into records, one record at a time.
class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text), separator_(findCsvSeparator(text)) {}

  /// Reads the next record that isn't a blank line into `fields`. Returns false at the end of the text.
  Result<bool> next(std::vector<std::string>& fields) {
    while (at_ < text_.size()) {
      line_ = nextLine_;
      fields.clear();
      bool more = true;
      while (more) {
        if (fields.size() == kMaxColumns)
          return Error{fmt::format("line {} has more than {} fields", line_, kMaxColumns)};
        auto field = readField();
        if (!field) return field.error();
        fields.push_back(std::move(*field));
        more = at_ < text_.size() && text_[at_] == separator_;
        if (more) ++at_;
      }
      skipLineEnd();
      const bool blank = fields.size() == 1 && fields[0].empty() && !quoted_;
      if (!blank) return true;
    }
    return false;
  }
  /// The line on which the last record began, counted from 1.
  std::size_t line() const { return line_; }

 private:
  bool atFieldEnd() const {
    return at_ == text_.size() || text_[at_] == separator_ || text_[at_] == '\n' || text_[at_] == '\r';
  }

  void skipSpaces() {
    while (!atFieldEnd() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  void skipLineEnd() {
    if (at_ == text_.size()) return;
    if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++nextLine_;
  }

  Result<std::string> readField() {
    skipSpaces();
    quoted_ = at_ < text_.size() && text_[at_] == '"';
    if (quoted_) return readQuoted();
    const auto begin = at_;
    while (!atFieldEnd()) ++at_;
    auto text = text_.substr(begin, at_ - begin);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return std::string(text);
  }

  Result<std::string> readQuoted() {
    const auto began = nextLine_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') break;
        ++at_;
      }
      if (c == '\n') ++nextLine_;
      field += c;
    }
    if (at_ == text_.size()) return Error{fmt::format("line {} opens a quote that is never closed", began)};
    ++at_;
    skipSpaces();
    if (!atFieldEnd())
      return Error{fmt::format("line {} has text after a closing quote, expected a separator", nextLine_)};
    return field;
  }

  std::string_view text_;
  char separator_;
  bool quoted_ = false;  ///< whether the last field is in quotes
  std::size_t at_ = 0, line_ = 1, nextLine_ = 1;
};

}  // namespace

Result<std::string_view> utf8Text(std::string_view bytes) {
  if (bytes.substr(0, 3) == kByteOrderMark) bytes.remove_prefix(3);
  if (bytes.substr(0, 2) == "\xFF\xFE" || bytes.substr(0, 2) == "\xFE\xFF") {
    return Error{"is UTF-16 text, expected UTF-8"};
  }
  return bytes;
}

Status readCsv(std::string_view bytes,
               const std::function<Status(std::vector<std::string>&, std::size_t)>& take) {
  const auto text = utf8Text(bytes);
  if (!text) return text.error();
  CsvReader reader(*text);
  std::vector<std::string> fields;
  for (auto more = reader.next(fields);; more = reader.next(fields)) {
    if (!more) return more.error();
    if (!*more) return success();
    if (auto status = take(fields, reader.line()); !status) return status;
  }
}

std::optional<float> readCsvNumber(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const char* end = text.data() + text.size();
  float value = 0;
  const auto [at, code] = std::from_chars(text.data(), end, value);
  if (at != end || text.empty()) return std::nullopt;
  if (code != std::errc::result_out_of_range)
    return code == std::errc() ? std::optional(value) : std::nullopt;
  if (isSmall(text)) return 0.0F;
  return std::copysign(std::numeric_limits<float>::infinity(), text[0] == '-' ? -1.0F : 1.0F);
}

namespace {

constexpr std::uint64_t kMaxTableBytes = std::uint64_t{1} << 28;

bool endsAsNpy(const std::filesystem::path& path) {
  return lowerCase(path.extension().string()) == ".npy";
}

}  // namespace

Result<Table> readTable(const std::filesystem::path& path) {
  const auto bytes = readFile(path, kMaxTableBytes);
  if (!bytes) return bytes.error();
  if (endsAsNpy(path)) return parseNpy(*bytes, shownPath(path));
  const std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return parseCsv(text, shownPath(path));
}

namespace {

/// Collects rows and decides whether the first row is a header and the first column holds names.
class TableBuilder {
 public:
  Status add(std::vector<std::string>& fields, std::size_t line) {
    if (width_ == 0) {
      width_ = fields.size();
      firstLine_ = line;
      if (isHeader(fields)) {
        const auto& first = fields[0];
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
    const auto number = readCsvNumber(fields[0]);
    const bool finite = number && std::isfinite(*number);
    numbersInFirst_ = numbersInFirst_ || finite;
    textInFirst_ = textInFirst_ || !number;
    if (!finite && !badLine_) {
      badLine_ = line;
      badText_ = fields[0];
    }
    firstColumn_.push_back(number.value_or(0.0F));
    names_.push_back(std::move(fields[0]));
    for (std::size_t column = 1; column < width_; ++column) {
      const auto value = readCsvNumber(fields[column]);
      if (!value || !std::isfinite(*value)) return badCell(line, column, fields[column]);
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
  static bool isHeader(const std::vector<std::string>& fields) {
    return std::none_of(fields.begin(), fields.end(),
                        [](const std::string& field) { return readCsvNumber(field).has_value(); });
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

std::string numberText(float value) {
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

}  // namespace

std::string quotedField(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

Result<Table> parseCsv(std::string_view text, const std::string& name) {
  TableBuilder builder;
  const Status status = readCsv(
      text, [&](std::vector<std::string>& fields, std::size_t line) { return builder.add(fields, line); });
  auto table = status ? builder.finish() : status.error();
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

namespace {

Result<Table> readNpyTable(std::span<const std::uint8_t> bytes) {
  constexpr DType kTypes[] = {DType::F16, DType::F32, DType::F64, DType::I32, DType::I64};
  const auto header = parseNpyHeader(bytes, bytes.size());
  if (!header) return header.error();
  const auto type = npyType(*header, kTypes, "little-endian floats or integers (<f2, <f4, <f8, <i4 or <i8)");
  if (!type) return type.error();
  const Shape& shape = header->shape;
  if (shape.empty() || shape.size() > 2)
    return Error{fmt::format("has {} dimensions, expected 1 or 2", shape.size())};
  if (const auto status = checkNpyExtent(*header, byteSize(*type)); !status) return status.error();
  if (shape.size() == 2 && shape[0] > kMaxTableRows)
    return Error{fmt::format("has {} rows, expected at most {}", shape[0], kMaxTableRows)};
  const std::size_t rows = shape.size() == 2 ? shape[0] : 1, cols = shape.back();
  Table table;
  table.names.resize(rows);
  table.values.resize(static_cast<Index>(rows), static_cast<Index>(cols));
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<float> values(table.values.data() + row * cols, cols);
    const std::size_t first = header->fortranOrder ? row : row * cols;
    readNumbers(*type, bytes.data() + header->dataBegin + first * byteSize(*type),
                header->fortranOrder ? rows : 1, values);
    for (std::size_t col = 0; col < cols; ++col)
      if (!std::isfinite(values[col]))
        return Error{fmt::format("row {}, column {} is {}, expected a finite number", row + 1, col + 1,
                                 std::isnan(values[col]) ? "NaN" : "infinite or beyond 3.4e38")};
  }
  return table;
}

}  // namespace

Result<Table> parseNpy(std::span<const std::uint8_t> bytes, const std::string& name) {
  auto table = readNpyTable(bytes);
  if (!table) return Error{name + ": " + table.error().message};
  return table;
}

}  // namespace headscope::attention
