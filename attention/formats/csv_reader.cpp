#include "attention/formats/csv_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

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

}  // namespace

Result<bool> CsvReader::next(std::vector<CsvField>& fields) {
  while (at_ < text_.size()) {
    line_ = nextLine_;
    fields.clear();
    bool more = true;
    while (more) {
      if (fields.size() == kMaxColumns) {
        return Error{fmt::format("line {} has more than {} fields", line_, kMaxColumns)};
      }
      auto field = readField();
      if (!field) return field.error();
      fields.push_back(std::move(*field));
      more = at_ < text_.size() && text_[at_] == separator_;
      if (more) ++at_;
    }
    skipLineEnd();
    const bool blank = fields.size() == 1 && fields[0].text.empty() && !fields[0].quoted;
    if (!blank) return true;
  }
  return false;
}

bool CsvReader::atFieldEnd() const {
  return at_ == text_.size() || text_[at_] == separator_ || text_[at_] == '\n' || text_[at_] == '\r';
}

void CsvReader::skipSpaces() {
  while (!atFieldEnd() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

void CsvReader::skipLineEnd() {
  if (at_ == text_.size()) return;
  if (text_[at_] == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') ++at_;
  ++at_;
  ++nextLine_;
}

Result<CsvField> CsvReader::readField() {
  skipSpaces();
  if (at_ < text_.size() && text_[at_] == '"') return readQuoted();
  const auto begin = at_;
  while (!atFieldEnd()) ++at_;
  auto text = text_.substr(begin, at_ - begin);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return CsvField{std::string(text), false};
}

Result<CsvField> CsvReader::readQuoted() {
  const auto began = nextLine_;
  CsvField field{"", true};
  for (++at_; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') break;
      ++at_;
    }
    if (c == '\n') ++nextLine_;
    field.text += c;
  }
  if (at_ == text_.size()) return Error{fmt::format("line {} opens a quote that is never closed", began)};
  ++at_;
  skipSpaces();
  if (!atFieldEnd()) {
    return Error{fmt::format("line {} has text after a closing quote, expected a separator", nextLine_)};
  }
  return field;
}

Result<std::string_view> utf8Text(std::string_view bytes) {
  if (bytes.substr(0, 3) == kByteOrderMark) bytes.remove_prefix(3);
  if (bytes.substr(0, 2) == "\xFF\xFE" || bytes.substr(0, 2) == "\xFE\xFF") {
    return Error{"is UTF-16 text, expected UTF-8"};
  }
  return bytes;
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

}  // namespace headscope::attention
