#include "app/number_text.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace headscope::app {

namespace {

template <typename... Args>
std::string format(const char* pattern, Args... args) {
  std::array<char, 64> buffer;
  std::snprintf(buffer.data(), buffer.size(), pattern, args...);
  return buffer.data();
}

std::string withMinusSign(std::string text) {
  if (!text.empty() && text.front() == '-') return "−" + text.substr(1);
  return text;
}

}  // namespace

std::string bytesText(double bytes) {
  static constexpr std::array<const char*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? format("%.0f B", bytes) : format("%.1f %s", bytes, kUnits[unit]);
}

std::string weightText(float value) {
  if (value == 0 || value == 1) return format("%.0f", value);
  if (std::isfinite(value) && value < 0.0005f) return format("%.0e", value);
  return format("%.3f", value);
}

std::string numberText(double value, int significant) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  const double magnitude = std::floor(std::log10(std::abs(value)));
  if (magnitude >= 6 || magnitude < -4) return withMinusSign(format("%.*e", significant - 2, value));
  const int decimals = std::max(0, significant - 1 - static_cast<int>(std::max(magnitude, 0.0)));
  return withMinusSign(format("%.*f", decimals, value));
}

std::string countText(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string timeText(double seconds) {
  if (seconds >= 1) return format("%.1f s", seconds);
  const double ms = seconds * 1e3;
  return ms >= 10 ? format("%.0f ms", ms) : format("%.2f ms", ms);
}

}  // namespace headscope::app
