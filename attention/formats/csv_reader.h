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

  /// Reads the next record that isn't a blank line into `fields`. Returns false at the end of the text.
  Result<bool> next(std::vector<CsvField>& fields);
  /// The line on which the last record began, counted from 1.
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

/// Returns the text without a byte-order mark, or an Error for UTF-16.
Result<std::string_view> utf8Text(std::string_view bytes);

/// Picks the separator from the first line: a tab if there is one, else a semicolon (which spreadsheets write
/// where the comma is the decimal sign), else a comma.
char findCsvSeparator(std::string_view text);

/// Parses a number as from_chars does, allowing a plus sign, NaN and infinities. Values too small for a float
/// become 0, values too large become infinite.
std::optional<float> readCsvNumber(std::string_view text);

}  // namespace headscope::attention
