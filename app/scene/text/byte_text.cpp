#include "app/scene/text/byte_text.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <numeric>

#include "app/scene/text/number_text.h"

namespace headscope::app {

namespace {

constexpr std::uint64_t kTooMany = std::uint64_t{1} << 63;
constexpr const char* kTooManyText = "more than 8 EiB";

/// Up to four digits, without trailing zeros.
std::string fourDigits(double value) {
  const int decimals = value >= 999.95 ? 0 : value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
  // Rounds halves up, as people do: 70,272 B are 68.63 KiB.
  const double unit = std::pow(10.0, decimals);
  return roundedText(std::floor(value * unit + 0.5) / unit, 15);
}

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
  return fourDigits(bytes) + " " + kUnits[unit];
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

}  // namespace headscope::app
