#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// Returns the text without a byte-order mark, or an Error for UTF-16.
Result<std::string_view> utf8Text(std::string_view bytes);

/// Splits text into records of fields (RFC 4180) and calls take(fields, line) for each that isn't a blank
/// line; lines count from 1, and a record is on the line where it begins. The first line determines the
/// separator: a tab if there is one, else a semicolon (which spreadsheets write where the comma is the
/// decimal sign), else a comma. Returns an Error, without a name, for UTF-16, open quotes, and the first of
/// `take`'s.
Status readCsv(std::string_view bytes,
               const std::function<Status(std::vector<std::string>&, std::size_t)>& take);

/// Parses a number as from_chars does, allowing a plus sign, NaN and infinities. Values too small for a float
/// become 0, values too large become infinite.
std::optional<float> readCsvNumber(std::string_view text);

/// More rows are an Error, so that a small file can't exhaust memory with names.
inline constexpr Index kMaxTableRows = Index{1} << 24;

/// Rows of numbers, each with a name, as typed, pasted from a spreadsheet or loaded.
struct Table {
  std::vector<std::string> names;  ///< [rows]; "" if the source has none
  Matrix values;                   ///< [rows, cols]
  bool operator==(const Table& other) const {
    return names == other.names && values.rows() == other.values.rows() &&
           values.cols() == other.values.cols() && values == other.values;
  }
};

/// Parses comma-, semicolon- or tab-separated text as copied from spreadsheets; the first line determines the
/// separator. Quoted fields follow RFC 4180. A first row without numbers is a header. A first column without
/// numbers holds row names, and so does one whose header is "name", "token" or empty, whatever it contains.
/// Errors name the line and column, what was found and what was expected; they include rows of different
/// length, NaN and infinite values, and names that aren't UTF-8.
Result<Table> parseCsv(std::string_view text, const std::string& name);
/// A text as a field of CSV: in quotes, with its own doubled (RFC 4180).
std::string quotedField(std::string_view text);
/// Formats a table so that parseCsv() reads the same one back; writes a header and names only if there are
/// names.
std::string formatCsv(const Table& table);

/// Parses NumPy's .npy, versions 1 to 3: 1-D (one row) or 2-D, little-endian f2, f4, f8, i4, i8, C or Fortran
/// order. NaN and infinite values are Errors that name row and column, counted from 1.
Result<Table> parseNpy(std::span<const std::uint8_t> bytes, const std::string& name);

/// Reads a file as .npy if its name ends so, otherwise as CSV.
Result<Table> readTable(const std::filesystem::path& path);

}  // namespace headscope::attention
