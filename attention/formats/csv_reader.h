#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"

namespace headscope::attention {

struct CsvField {
  std::string text;
  bool quoted = false;
};

/// Splits text into records of fields (RFC 4180), one record at a time.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  /// The next record that is not a blank line, into `fields`; false at the end of the text.
  Result<bool> next(std::vector<CsvField>& fields);
  /// Where the last record began, counted from 1.
  std::size_t line() const { return line_; }

 private:
  bool atFieldEnd() const;
  void skipSpaces();
  void skipLineEnd();
  Result<CsvField> readField();
  Result<CsvField> readQuoted();

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0, line_ = 1, nextLine_ = 1;
};

/// What can be read of a text's bytes: without a byte-order mark. An error for UTF-16.
Result<std::string_view> csvText(std::string_view bytes);

/// A tab wherever one stands in the first line, then a semicolon (as spreadsheets write where the comma is
/// the decimal sign), then a comma.
char findCsvSeparator(std::string_view text);

/// A number as from_chars reads it, with an optional plus sign; NaN and the infinities count. Values too
/// small for float become 0, values too large infinite.
std::optional<float> readCsvNumber(std::string_view text);

}  // namespace headscope::attention
