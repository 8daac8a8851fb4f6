#include "app/scene/text/number_text.h"

#include <fmt/core.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <locale>
#include <stdexcept>

#include "attention/core/noun.h"

namespace headscope::app {

namespace {

std::atomic<NumberStyle> chosenStyle{NumberStyle::point};

char decimalMark() {
  return numberStyle() == NumberStyle::point ? '.' : ',';
}

/// For the style with spaces: U+202F, a narrow no-break space.
std::string_view groupMark() {
  static constexpr std::string_view kMarks[] = {",", ".", "\u202f"};
  return kMarks[static_cast<std::size_t>(numberStyle())];
}

/// Whether digits are grouped as in "1,048,576", with `mark` between the groups.
bool isGrouped(std::string_view digits, char mark) {
  if (digits.size() < 5 || digits.size() % 4 == 0 || digits.front() == '0') return false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool marked = (digits.size() - i) % 4 == 0;
    if (marked ? digits[i] != mark : digits[i] < '0' || digits[i] > '9') return false;
  }
  return true;
}

std::string without(char mark, std::string digits) {
  std::erase(digits, mark);
  return digits;
}

/// "2.4·10⁻⁶".
std::string scientific(double value, int significant) {
  static constexpr std::array<const char*, 10> kRaised{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  const std::string plain = fmt::format("{:.{}e}", value, std::max(significant - 2, 0));
  const std::size_t e = plain.find('e');
  const int exponent = std::stoi(plain.substr(e + 1));
  std::string raised = exponent < 0 ? "⁻" : "";
  for (char digit : std::to_string(std::abs(exponent)))
    raised += kRaised[static_cast<std::size_t>(digit - '0')];
  return shownNumber(plain.substr(0, e)) + "·10" + raised;
}

}  // namespace

void setNumberStyle(NumberStyle style) {
  chosenStyle = style;
}

NumberStyle numberStyle() {
  return chosenStyle;
}

NumberStyle systemNumberStyle() {
  try {
    const std::locale system("");
    const auto& marks = std::use_facet<std::numpunct<wchar_t>>(system);
    if (marks.decimal_point() != L',') return NumberStyle::point;
    return marks.thousands_sep() == L'.' ? NumberStyle::comma : NumberStyle::space;
  } catch (const std::runtime_error&) {  // a locale that this system doesn't have
    return NumberStyle::point;
  }
}

std::string shownNumber(std::string plain) {
  if (const std::size_t point = plain.find('.'); point != std::string::npos) plain[point] = decimalMark();
  if (!plain.starts_with('-')) return plain;
  return plain.find_first_of("123456789") == std::string::npos ? plain.substr(1) : "−" + plain.substr(1);
}

std::string fixedText(double value, int decimals) {
  return shownNumber(fmt::format("{:.{}f}", value, decimals));
}

std::string signedText(double value, int decimals) {
  std::string text = fixedText(value, decimals);
  const bool positive = value > 0 && text.find_first_of("123456789") != std::string::npos;
  return positive ? "+" + text : text;
}

std::string roundedText(double value, int digits) {
  return shownNumber(fmt::format("{:.{}g}", value, digits));
}

std::string plainNumber(std::string_view text) {
  std::string plain(text);
  for (const std::string_view space : {" ", "\u202f", "\u00a0"})
    for (std::size_t at; (at = plain.find(space)) != std::string::npos;) plain.erase(at, space.size());
  if (plain.starts_with('+')) plain.erase(0, 1);
  if (plain.starts_with("−")) plain.replace(0, std::string_view("−").size(), "-");
  const std::string sign = plain.starts_with('-') ? "-" : "";
  const std::string digits = plain.substr(sign.size());
  const std::size_t last = digits.find_last_of(".,");
  if (last == std::string::npos) return plain;
  const char mark = digits[last], other = mark == '.' ? ',' : '.';
  const bool several = digits.find(mark) != last;
  if (isGrouped(digits, mark) && (several || groupMark() == std::string_view(&mark, 1)))
    return sign + without(mark, digits);
  const std::string whole = digits.substr(0, last);
  if (several || (whole.find(other) != std::string::npos && !isGrouped(whole, other))) return plain;
  return sign + without(other, whole) + "." + digits.substr(last + 1);
}

std::optional<double> typedNumber(std::string_view text) {
  const std::string plain = plainNumber(text);
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  const bool whole = error == std::errc() && end == plain.data() + plain.size() && std::isfinite(value);
  return whole ? std::optional(value) : std::nullopt;
}

std::string bytesText(double bytes) {
  static constexpr std::array<const char*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  // From here on, it would be written as 1024.0.
  while (bytes >= 1023.95 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  // Rounds halves up, as people do: 1,280 B are 1.3 KiB.
  const bool exact = unit == 0 || bytes == std::floor(bytes);
  return exact ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
               : fixedText(std::floor(bytes * 10 + 0.5) / 10, 1) + " " + kUnits[unit];
}

std::string weightText(float value) {
  if (value == 0 || value == 1) return fmt::format("{:.0f}", value);
  if (!std::isfinite(value)) return numberText(value);
  if (value < 0.0005f) return numberText(value, 2);
  return fixedText(value, 3);
}

std::string numberText(double value, int significant) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  const double magnitude = std::floor(std::log10(std::abs(value)));
  if (magnitude >= 6 || magnitude < -3) return scientific(value, significant);
  const int order = static_cast<int>(magnitude);
  // A fraction keeps at least its first digit, so that only 0 reads as 0.
  const int decimals = order < 0 ? std::max(significant - 1, -order) : std::max(significant - 1 - order, 0);
  return fixedText(value, decimals);
}

std::string countText(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, groupMark());
  return digits;
}

std::string tokenCountText(std::int64_t count) {
  return countedText(count, "token");
}

std::string countedText(std::int64_t count, std::string_view one) {
  return countText(static_cast<std::uint64_t>(count)) + " " + attention::nounFor(count, one);
}

std::string timeText(double seconds) {
  if (seconds >= 0.9995) return fixedText(seconds, 1) + " s";
  const double ms = seconds * 1e3;
  return fixedText(ms, ms >= 10 ? 0 : 2) + " ms";
}

std::string percentText(double share) {
  return fixedText(share * 100, share > 0 && share < 0.01 ? 2 : 1) + " %";
}

std::string flopsText(double flops) {
  static constexpr const char* kUnits[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                           "TFLOP", "PFLOP", "EFLOP", "ZFLOP"};
  // Beyond the units that people know.
  if (flops >= 9.995e23) return scientific(flops, 4) + " FLOP";
  std::size_t unit = 0;
  for (; flops >= 999.5 && unit + 1 < std::size(kUnits); ++unit) flops /= 1000;
  const int decimals = unit == 0 || flops >= 99.5 ? 0 : flops >= 9.95 ? 1 : 2;
  return fixedText(flops, decimals) + " " + kUnits[unit];
}

}  // namespace headscope::app
