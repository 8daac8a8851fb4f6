#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

/// More rows than this are an error, so that a small file cannot ask for names beyond memory.
inline constexpr Index kMaxTableRows = Index{1} << 24;

/// Rows of numbers, each with a name: what a person types, pastes from a spreadsheet or loads.
struct Table {
  std::vector<std::string> names;  ///< [rows]; "" where the source gave none
  Matrix values;                   ///< [rows, cols]
  bool operator==(const Table& other) const {
    return names == other.names && values.rows() == other.values.rows() &&
           values.cols() == other.values.cols() && values == other.values;
  }
};

/// Comma-, semicolon- or tab-separated text, as spreadsheets copy it (the separator is found from the
/// first line). Quoted fields as in RFC 4180. A first row without numbers is taken for a header; a first
/// column without numbers for row names, and so is one whose header is "name", "token" or empty, whatever
/// it holds. Names that are not UTF-8 are errors. Errors name line and column, what was found and what
/// was expected; NaN and infinite values are errors; so are rows of different length.
Result<Table> parseCsv(std::string_view text, const std::string& name);
/// What parseCsv reads back as the same table; a header and the names stand in it if there are names.
std::string formatCsv(const Table& table);

/// NumPy's .npy, versions 1 to 3: 1-D (one row) or 2-D, little-endian f2, f4, f8, i4, i8; C or Fortran order.
/// NaN and infinite values are errors that name row and column, counted from 1.
Result<Table> parseNpy(std::span<const std::uint8_t> bytes, const std::string& name);
/// float32, C order, version 1.0.
std::vector<std::uint8_t> formatNpy(const Matrix& values);

/// By the file's ending: .npy, otherwise CSV.
Result<Table> readTable(const std::filesystem::path& path);

}  // namespace headscope::attention
