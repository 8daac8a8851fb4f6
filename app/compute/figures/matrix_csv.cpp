#include "app/compute/figures/matrix_csv.h"

#include <fmt/core.h>

#include <iterator>

namespace headscope::app {

namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

}  // namespace

std::string matrixCsv(const attention::MatrixView& values, const std::vector<attention::Token>& queries,
                      const std::vector<attention::Token>& keys) {
  std::string csv;
  for (const attention::Token& key : keys) csv += ',' + quoted(key.text);
  csv += '\n';
  for (attention::Index row = 0; row < values.rows(); ++row) {
    csv += quoted(queries[static_cast<std::size_t>(row)].text);
    for (attention::Index col = 0; col < values.cols(); ++col)
      fmt::format_to(std::back_inserter(csv), ",{}", values(row, col));
    csv += '\n';
  }
  return csv;
}

}  // namespace headscope::app
