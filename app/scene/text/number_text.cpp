#include "app/scene/text/number_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

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

/// Writes a number with these digits, and `minus` before a negative one.
std::string writtenWith(const std::array<const char*, 10>& digits, const char* minus, std::int64_t number) {
  std::string text;
  for (const char digit : std::to_string(number))
    text += digit == '-' ? minus : digits[static_cast<std::size_t>(digit - '0')];
  return text;
}

/// "2.4·10⁻⁶".
std::string scientific(double value, int significant) {
  const std::string plain = fmt::format("{:.{}e}", value, std::max(significant - 2, 0));
  const std::size_t e = plain.find('e');
  return shownNumber(plain.substr(0, e)) + "·10" + raisedDigits(std::stoi(plain.substr(e + 1)));
}

}  // namespace

std::string raisedDigits(std::int64_t number) {
  return writtenWith({"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"}, "⁻", number);
}

std::string loweredDigits(std::int64_t number) {
  return writtenWith({"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"}, "₋", number);
}

void setNumberStyle(NumberStyle style) {
  chosenStyle = style;
}

NumberStyle numberStyle() {
  return chosenStyle;
}

std::string shownNumber(std::string plain) {
  if (const std::size_t point = plain.find('.'); point != std::string::npos) plain[point] = decimalMark();
  if (!plain.starts_with('-')) return plain;
  return plain.find_first_of("123456789") == std::string::npos ? plain.substr(1) : "−" + plain.substr(1);
}

namespace {

/// So that a half rounds up, as people do: 0.125 is 0.13. A fraction that isn't halfway stays on its side.
double awayFromHalf(double value) {
  return value != 0 && std::abs(value) < 0x1p52 ? std::nextafter(value, std::copysign(HUGE_VAL, value))
                                                : value;
}

}  // namespace

std::string fixedText(double value, int decimals) {
  return shownNumber(fmt::format("{:.{}f}", awayFromHalf(value), decimals));
}

std::string signedText(double value, int decimals) {
  std::string text = fixedText(value, decimals);
  const bool positive = value > 0 && text.find_first_of("123456789") != std::string::npos;
  return positive ? "+" + text : text;
}

std::string roundedText(double value, int digits) {
  return shownNumber(fmt::format("{:.{}g}", awayFromHalf(value), digits));
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
  const bool exact = unit == 0 || bytes == std::floor(bytes);
  return exact ? fmt::format("{:.0f} {}", bytes, kUnits[unit]) : fixedText(bytes, 1) + " " + kUnits[unit];
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

std::string wholePercentText(double share) {
  return fixedText(share * 100, 0) + " %";
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

namespace {

constexpr std::uint64_t kTooMany = std::uint64_t{1} << 63;
constexpr const char* kTooManyText = "more than 8 EiB";

}  // namespace

std::string fourDigitBytes(double bytes) {
  if (bytes > static_cast<double>(kTooMany)) return kTooManyText;
  static constexpr std::array<const char*, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  // From here on, four digits would read 1024.
  while (bytes >= 1023.5 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return roundedText(bytes, 4) + " " + kUnits[unit];
}

std::string fourDigitBytes(std::uint64_t bytes) {
  return bytes >= kTooMany ? kTooManyText : fourDigitBytes(static_cast<double>(bytes));
}

std::string exactBytes(std::uint64_t bytes) {
  return bytes >= kTooMany ? kTooManyText : countText(bytes) + " B";
}

std::string fractionText(std::uint64_t part, std::uint64_t whole) {
  const std::uint64_t common = std::gcd(part, whole);
  if (common == 0) return "0 %";
  const std::uint64_t top = part / common, bottom = whole / common;
  if (bottom == 1) return std::to_string(top);
  static constexpr struct {
    std::uint64_t top, bottom;
    const char* text;
  } kSigns[] = {{1, 2, "½"}, {1, 4, "¼"}, {3, 4, "¾"}, {1, 8, "⅛"}, {3, 8, "⅜"}, {5, 8, "⅝"},
                {7, 8, "⅞"}, {1, 3, "⅓"}, {2, 3, "⅔"}, {1, 6, "⅙"}, {5, 6, "⅚"}, {1, 5, "⅕"}};
  for (const auto& sign : kSigns)
    if (sign.top == top && sign.bottom == bottom) return sign.text;
  if (bottom <= 16) return fmt::format("{}/{}", top, bottom);
  const double share = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fixedText(share, share < 10 ? 1 : 0) + " %";
}

std::string tokensText(std::int64_t tokens) {
  constexpr std::int64_t kilo = 1024, mega = kilo * 1024, giga = mega * 1024, tera = giga * 1024;
  for (const auto& [unit, name] : {std::pair(tera, " T"), {giga, " G"}, {mega, " M"}})
    if (tokens >= unit && tokens % unit == 0)
      return countText(static_cast<std::uint64_t>(tokens / unit)) + name;
  if (tokens >= kilo && tokens % kilo == 0) return std::to_string(tokens / kilo) + " k";
  return countText(static_cast<std::uint64_t>(tokens));
}

namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

bool isLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// Formats "1,234.5" for display; returns anything else unchanged.
std::string shownRun(std::string_view run) {
  const std::size_t point = run.find('.');
  std::string whole(run.substr(0, point));
  const std::string_view fraction = point == std::string_view::npos ? "" : run.substr(point + 1);
  if (!std::ranges::all_of(fraction, isDigit)) return std::string(run);
  if (const std::size_t mark = whole.find(','); mark != std::string::npos) {
    std::string digits = whole;
    std::erase(digits, ',');
    std::string grouped = digits;
    for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) grouped.insert(at, ",");
    if (grouped != whole || digits.size() > 18) return std::string(run);
    whole = countText(std::stoull(digits));
  }
  return fraction.empty() ? whole : whole + shownNumber("." + std::string(fraction));
}

}  // namespace

std::string shownProse(std::string_view text) {
  if (numberStyle() == NumberStyle::point) return std::string(text);
  std::string shown;
  bool code = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (isDigit(text[end]) || text[end] == '.' || text[end] == ',')) ++end;
    while (end > at && !isDigit(text[end - 1])) --end;
    const char before = at > 0 ? text[at - 1] : ' ', after = end < text.size() ? text[end] : ' ';
    const bool joined = before == '-' && at > 1 && isLetter(text[at - 2]);
    const bool inName = isLetter(before) || isLetter(after) || before == '_' || before == '.' || joined;
    if (end == at) {
      code = code != (text[at] == '`');
      shown += text[at++];
      continue;
    }
    const std::string_view run = text.substr(at, end - at);
    shown += code || inName ? std::string(run) : shownRun(run);
    at = end;
  }
  return shown;
}

NumberStyle numberStyleOf(const Preferences& preferences) {
  static const NumberStyle kSystem = systemNumberStyle();
  return preferences.numbers == 0 ? kSystem : static_cast<NumberStyle>(preferences.numbers - 1);
}

std::string settingText(const PreferenceRow& row, const Preferences& preferences) {
  if (const auto* on = std::get_if<SwitchSetting>(&row.kind)) return preferences.*on->value ? "on" : "off";
  if (const auto* choice = std::get_if<ChoiceSetting>(&row.kind))
    return preferences.*choice->value ? choice->on : choice->off;
  if (const auto* list = std::get_if<ListSetting>(&row.kind))
    return list->choices[preferences.*list->value].label;
  return roundedText(100 * preferences.*std::get<FactorSetting>(row.kind).value) + " %";
}

std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result.front() >= 'a' && result.front() <= 'z') result.front() -= 'a' - 'A';
  return result;
}

}  // namespace headscope::app
