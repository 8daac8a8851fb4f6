#include "app/scene/text/number_text.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "attention/core/noun.h"

namespace headscope::app {

namespace {

std::string withMinusSign(std::string text) {
  if (!text.empty() && text.front() == '-') return "−" + text.substr(1);
  return text;
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
  return plain.substr(0, e) + "·10" + raised;
}

}  // namespace

std::string bytesText(double bytes) {
  static constexpr std::array<const char*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  // From here on it would be written as 1024.0.
  while (bytes >= 1023.95 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  // Halves go up, as people round: 1,280 B are 1.3 KiB.
  const bool exact = unit == 0 || bytes == std::floor(bytes);
  return exact ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
               : fmt::format("{:.1f} {}", std::floor(bytes * 10 + 0.5) / 10, kUnits[unit]);
}

std::string weightText(float value) {
  if (value == 0 || value == 1) return fmt::format("{:.0f}", value);
  if (std::isfinite(value) && value < 0.0005f) return numberText(value, 2);
  return fmt::format("{:.3f}", value);
}

std::string numberText(double value, int significant) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  const double magnitude = std::floor(std::log10(std::abs(value)));
  if (magnitude >= 6 || magnitude < -3) return withMinusSign(scientific(value, significant));
  const int order = static_cast<int>(magnitude);
  // A fraction keeps at least its first digit: nothing but 0 reads as 0.
  const int decimals = order < 0 ? std::max(significant - 1, -order) : std::max(significant - 1 - order, 0);
  return withMinusSign(fmt::format("{:.{}f}", value, decimals));
}

std::string countText(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string tokenCountText(std::int64_t count) {
  return countedText(count, "token");
}

std::string countedText(std::int64_t count, std::string_view one) {
  return countText(static_cast<std::uint64_t>(count)) + " " + attention::nounFor(count, one);
}

std::string timeText(double seconds) {
  if (seconds >= 0.9995) return fmt::format("{:.1f} s", seconds);
  const double ms = seconds * 1e3;
  return fmt::format("{:.{}f} ms", ms, ms >= 10 ? 0 : 2);
}

std::string percentText(double share) {
  return fmt::format("{:.{}f} %", share * 100, share > 0 && share < 0.01 ? 2 : 1);
}

std::string flopsText(double flops) {
  static constexpr const char* kUnits[] = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                           "TFLOP", "PFLOP", "EFLOP", "ZFLOP"};
  // What nobody computes has no unit that people know.
  if (flops >= 9.995e23) return scientific(flops, 4) + " FLOP";
  std::size_t unit = 0;
  for (; flops >= 999.5 && unit + 1 < std::size(kUnits); ++unit) flops /= 1000;
  const int decimals = unit == 0 || flops >= 99.5 ? 0 : flops >= 9.95 ? 1 : 2;
  return fmt::format("{:.{}f} {}", flops, decimals, kUnits[unit]);
}

}  // namespace headscope::app
